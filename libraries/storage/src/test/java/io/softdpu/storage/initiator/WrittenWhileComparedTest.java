package io.softdpu.storage.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.linux.text.Text;
import io.softdpu.storage.workload.Content;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A peer that writes to the initiator's memory while this compares it. Any verdict is right, as the
 * bytes change; but it must be about the same bytes as the digest and the report.
 */
class WrittenWhileComparedTest {
    private static final Content CONTENT = Content.pattern(0x5EED);

    /** Some pieces, the last of them not a whole one. */
    private static final int SIZE_BYTES = (2 << 20) + 1000;

    /** Most comparisons are of a few bytes at the front, so that there can be many. */
    private static final int FRONT_BYTES = 100_000;

    /** One comparison in so many is of all of the memory. */
    private static final int WHOLE_EVERY = 50;

    private static final int PIECES = Soak.count(500, 10_000, 10_000);

    private static final Pattern REPORT =
            Pattern.compile(
                    "offsetBytes=(\\d+), expected=0x(\\p{XDigit}{2}), actual=0x(\\p{XDigit}{2})");

    private static final Pattern DUMP_LINE =
            Pattern.compile("^(\\p{XDigit}{12})((?:  ?\\p{XDigit}{2}){1,16})");

    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

    @TempDir private Path folder;

    private long pieces;

    @Test
    @Tag(Soak.TAG)
    void shouldSayNothingOfOtherBytesThanItHasCompared(SeededRandom random) throws Exception {
        long start = System.nanoTime();
        Duration duration = Soak.duration(Duration.ZERO, Duration.ZERO, Duration.ofMinutes(10));
        int[] sizes = new int[WHOLE_EVERY];
        String[] sha256 = new String[WHOLE_EVERY];
        for (int i = 0; i < WHOLE_EVERY; i++) {
            sizes[i] = i == 0 ? SIZE_BYTES : random.nextInt(1, FRONT_BYTES + 1);
            sha256[i] = CONTENT.sha256(sizes[i]);
        }
        long verified = 0;
        long different = 0;
        try (Machine machine = Machine.builder(Side.HOST).fabricFolder(folder).open();
                Device device = machine.findDevice("pf0").open();
                IoMemory memory = new IoMemory(device, SIZE_BYTES);
                Flipper flipper = new Flipper(segmentsOf(memory), random.nextLong())) {
            while (pieces < PIECES || System.nanoTime() - start < duration.toNanos()) {
                flipper.requireRunning();
                int i = (int) ((verified + different) % WHOLE_EVERY);
                try {
                    assertThat(memory.verify("read", CONTENT, sizes[i], () -> pieces++))
                            .isEqualTo(new IoMemory.Verified(sizes[i], sha256[i], sha256[i]));
                    verified++;
                } catch (DataMismatchException e) {
                    pieces++;
                    requireOneStory(e);
                    different++;
                }
            }
        }
        Soak.report(
                "written-while-compared",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - start),
                Text.format("pieces=%d, verified=%d, different=%d", pieces, verified, different));
    }

    /** Offset, the two bytes and the dump's lines agree with the content and with each other. */
    private static void requireOneStory(DataMismatchException e) {
        Matcher report = REPORT.matcher(e.getMessage());
        assertThat(report.find()).as("%s", e.getMessage()).isTrue();
        long offset = Long.parseLong(report.group(1));
        int expected = Integer.parseInt(report.group(2), 16);
        int actual = Integer.parseInt(report.group(3), 16);
        assertThat(offset).isEqualTo(e.offset());
        assertThat(actual).as("actual byte in %s", e.getMessage()).isNotEqualTo(expected);
        byte[] line = new byte[16];
        CONTENT.fill(MemorySegment.ofArray(line), offset & -16);
        assertThat(expected).as("%s", e.getMessage()).isEqualTo(line[(int) (offset & 15)] & 0xFF);

        String[] dumps = e.hexDump().split("actual:", 2);
        int[] expectedLine = dumped(dumps[0], offset);
        int[] actualLine = dumped(dumps[1], offset);
        for (int at = 0; at <= (offset & 15); at++) {
            boolean differs = at == (offset & 15);
            assertThat(expectedLine[at]).as("%s", e.getMessage()).isEqualTo(line[at] & 0xFF);
            assertThat(actualLine[at])
                    .as("actual byte %d of the line in %s", at, e.getMessage())
                    .isEqualTo(differs ? actual : expectedLine[at]);
        }
    }

    /** The bytes of the line that a dump has for the 16 bytes around an offset. */
    private static int[] dumped(String dump, long offset) {
        for (String line : dump.lines().toList()) {
            Matcher bytes = DUMP_LINE.matcher(line);
            if (bytes.find() && Long.parseLong(bytes.group(1), 16) == (offset & -16)) {
                String[] values = bytes.group(2).strip().split(" +");
                int[] line16 = new int[values.length];
                for (int i = 0; i < values.length; i++) {
                    line16[i] = Integer.parseInt(values[i], 16);
                }
                return line16;
            }
        }
        return fail("no line for offset %d in: %s", offset, dump);
    }

    /** The memory itself, as a peer has it, in the pieces in which it is filled. */
    private static List<MemorySegment> segmentsOf(IoMemory memory) {
        List<MemorySegment> seen = new ArrayList<>();
        memory.fill(
                new Content() {
                    @Override
                    public void fill(MemorySegment destination, long offset) {
                        CONTENT.fill(destination, offset);
                        seen.add(destination);
                    }

                    @Override
                    public String toString() {
                        return CONTENT.toString();
                    }
                },
                () -> {});
        return seen;
    }

    /**
     * The peer: makes a byte wrong and right again, with rests in between of which the longest
     * outlasts the comparison of some pieces.
     */
    private static final class Flipper implements AutoCloseable {
        private static final int LONGEST_REST_EXPONENT = 18;

        private final List<MemorySegment> memory;
        private final SplittableRandom random;
        private final Thread thread = new Thread(this::run, "flipper");
        private final CompletableFuture<Void> ended = new CompletableFuture<>();
        private volatile boolean stopped;

        Flipper(List<MemorySegment> memory, long seed) {
            this.memory = memory;
            this.random = new SplittableRandom(seed);
            thread.start();
        }

        void requireRunning() throws Exception {
            if (ended.isDone()) {
                ended.get(0, TimeUnit.SECONDS); // what it failed with is thrown
                fail("flipper has ended");
            }
        }

        @Override
        public void close() throws Exception {
            stopped = true;
            ended.get(Patience.SECONDS, TimeUnit.SECONDS);
            thread.join();
        }

        private void run() {
            try {
                byte[] right = new byte[SIZE_BYTES];
                CONTENT.fill(MemorySegment.ofArray(right), 0);
                while (!stopped) {
                    int at = random.nextInt(random.nextInt(4) == 0 ? SIZE_BYTES : FRONT_BYTES);
                    put(at, (byte) (right[at] ^ random.nextInt(1, 256)));
                    rest();
                    put(at, right[at]);
                    rest();
                }
                ended.complete(null);
            } catch (Throwable e) {
                ended.completeExceptionally(e);
            }
        }

        private void put(long at, byte value) {
            long offset = at;
            for (MemorySegment piece : memory) {
                if (offset < piece.byteSize()) {
                    BYTE.setVolatile(piece, offset, value);
                    return;
                }
                offset -= piece.byteSize();
            }
        }

        private void rest() {
            long spins = random.nextLong(1L << random.nextInt(LONGEST_REST_EXPONENT + 1));
            for (long spin = 0; spin < spins && !stopped; spin++) {
                Thread.onSpinWait();
            }
        }
    }
}
