package io.softdpu.fabric.ring;

import io.softdpu.linux.text.Text;
import io.softdpu.testkit.GuardedMemory;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Process that writes random and boundary values into every word of both rings, one at a time, lets
 * the attacked side decode them between guard pages, and compares the result with a simple decoder
 * of the wire format. It prints the effect of each word; it ends by a signal if a guard page was
 * accessed, and with an error if the results differ.
 */
public final class RingMutator {

    private final SeededRandom random;
    private final List<RingTarget> targets =
            List.of(
                    new MessageRingTargets.Receiver(),
                    new MessageRingTargets.Sender(),
                    new FastPathRingTargets.Receiver(),
                    new FastPathRingTargets.Sender());
    private final List<Tally> tallies = new ArrayList<>();
    private final GuardedMemory memory = new GuardedMemory(4096);
    private final MemorySegment before = MemorySegment.ofArray(new long[512]);
    private final MemorySegment after = MemorySegment.ofArray(new long[512]);

    /** Counts of the effects of mutations of one word. */
    private static final class Tally {
        private final RingTarget target;
        private final RingField field;
        private final Map<String, Integer> errors = new TreeMap<>();
        private int writes;
        private int hits;

        private Tally(RingTarget target, RingField field) {
            this.target = target;
            this.field = field;
        }

        @Override
        public String toString() {
            return Text.format(
                    "field;%s;%s;%s;%d;%d;%s",
                    target.name, field.name(), field.effect(), writes, hits, errors);
        }
    }

    private RingMutator(SeededRandom random) {
        this.random = random;
        for (RingTarget target : targets) {
            for (RingField field : target.fields) {
                tallies.add(new Tally(target, field));
            }
        }
    }

    /** Arguments: seed and number of mutations; or "touch", to show that the guards are real. */
    public static void main(String[] arguments) {
        if (arguments[0].equals("touch")) {
            MemorySegment ring = new GuardedMemory(4096).ring(2560, true);
            System.out.println("in bounds: " + ring.get(ValueLayout.JAVA_BYTE, 2559));
            System.out.println("survived: " + ring.get(ValueLayout.JAVA_BYTE, 2560));
            return;
        }
        RingMutator mutator = new RingMutator(new SeededRandom(Long.parseLong(arguments[0])));
        int mutations = Integer.parseInt(arguments[1]);
        for (int i = 0; i < mutations; i++) {
            mutator.mutate(i);
        }
        mutator.tallies.forEach(System.out::println);
        System.out.println("done " + mutations);
    }

    private void mutate(int round) {
        // In turn, so that no word depends on luck for its share.
        Tally tally = tallies.get(round % tallies.size());
        RingTarget target = tally.target;
        RingField field = tally.field;
        long size = target.sizeBytes();
        MemorySegment ring = memory.ring(size, random.nextBoolean());
        target.prepare(ring, random);
        MemorySegment.copy(ring, 0, before, 0, size);
        RingTarget.Outcome control = target.expect(before);

        long at = place(target, field);
        long value = value(current(ring, at, field.widthBytes()));
        write(ring, at, field.widthBytes(), value);
        MemorySegment.copy(ring, 0, before, 0, size);
        RingTarget.Outcome expected = target.expect(before);
        RingTarget.Outcome outcome = target.decode();

        String what =
                Text.format(
                        "round=%d, ring=%s, field=%s, value=0x%x, offsetBytes=%d",
                        round, target.name, field.name(), value, at);
        if (!outcome.equals(expected)) {
            throw new AssertionError(
                    Text.format(
                            "decoded otherwise: %s, got=%s, expected=%s", what, outcome, expected));
        }
        requireNothingElseWritten(target, ring, what);
        tally.writes++;
        if (!outcome.equals(control)) {
            tally.hits++;
            if (field.effect() == RingField.Effect.IGNORED) {
                throw new AssertionError("was looked at: " + what);
            }
            if (outcome.isError() && !outcome.end().equals(control.end())) {
                tally.errors.merge(outcome.end(), 1, Integer::sum);
            }
        }
    }

    private void requireNothingElseWritten(RingTarget target, MemorySegment ring, String what) {
        long size = target.sizeBytes();
        MemorySegment.copy(ring, 0, after, 0, size);
        target.blankWritten(before);
        target.blankWritten(after);
        long different = MemorySegment.mismatch(before, 0, size, after, 0, size);
        if (different >= 0) {
            throw new AssertionError("wrote where it must not: at=" + different + ", " + what);
        }
        if (!memory.isIntact()) {
            throw new AssertionError("wrote beside the ring: " + what);
        }
    }

    private long place(RingTarget target, RingField field) {
        long start =
                field.place() == RingField.Place.HEAD ? 0 : target.pending(field.place(), random);
        return start + field.offset() + random.nextInt(field.positions());
    }

    /** Boundaries, near misses, single bits, anything. */
    private long value(long current) {
        long slots = RingTarget.SLOTS;
        return switch (random.nextInt(4)) {
            case 0 ->
                    random.oneOf(
                            0L,
                            1L,
                            -1L,
                            2L,
                            3L,
                            4L,
                            slots - 1,
                            slots,
                            slots + 1,
                            31L,
                            32L,
                            33L,
                            63L,
                            64L,
                            65L,
                            99L,
                            100L,
                            101L,
                            127L,
                            128L,
                            255L,
                            256L,
                            4095L,
                            4096L,
                            4097L,
                            1L << 20,
                            (1L << 20) + 1,
                            (long) Integer.MAX_VALUE,
                            (long) Integer.MIN_VALUE,
                            0xffff_ffffL,
                            1L << 32,
                            Long.MAX_VALUE,
                            Long.MIN_VALUE,
                            Long.MAX_VALUE - slots);
            case 1 -> current + random.oneOf(1L, -1L, 2L, -2L, slots, -slots, slots + 1);
            case 2 -> current ^ 1L << random.nextInt(64);
            default -> random.nextLong();
        };
    }

    private static long current(MemorySegment ring, long at, int widthBytes) {
        return switch (widthBytes) {
            case 1 -> ring.get(ValueLayout.JAVA_BYTE, at);
            case 2 -> ring.get(ValueLayout.JAVA_SHORT, at);
            case 4 -> ring.get(ValueLayout.JAVA_INT, at);
            default -> ring.get(ValueLayout.JAVA_LONG, at);
        };
    }

    private static void write(MemorySegment ring, long at, int widthBytes, long value) {
        switch (widthBytes) {
            case 1 -> ring.set(ValueLayout.JAVA_BYTE, at, (byte) value);
            case 2 -> ring.set(ValueLayout.JAVA_SHORT, at, (short) value);
            case 4 -> ring.set(ValueLayout.JAVA_INT, at, (int) value);
            default -> ring.set(ValueLayout.JAVA_LONG, at, value);
        }
    }
}
