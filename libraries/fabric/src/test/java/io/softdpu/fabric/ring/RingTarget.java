package io.softdpu.fabric.ring;

import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One side of a ring as the target of mutations: brings it into a random state with pending work,
 * lets it decode, and determines the expected result by a second, simple decoder of the wire
 * format.
 */
abstract class RingTarget {
    static final int SLOTS = 8;
    static final long SLOTS_START = 1024;

    final String name;
    final List<RingField> fields;

    RingTarget(String name, List<RingField> own) {
        this.name = name;
        List<RingField> all = new ArrayList<>(RingField.informational());
        all.addAll(own);
        this.fields = List.copyOf(all);
    }

    /**
     * Result of decoding.
     *
     * @param units messages, buffers or claims
     * @param digest of all decoded values
     * @param end the reason why there were no more: a word in capitals, or the word of the peer
     *     that was wrong
     * @param armed whether the peer wants a doorbell
     */
    record Outcome(int units, long digest, String end, boolean armed) {
        /** Whether the peer was refused or told off by name. */
        boolean isError() {
            return !end.equals("EMPTY");
        }
    }

    abstract long sizeBytes();

    /**
     * Creates both ends over this memory, as after some use, and with something for the victim to
     * do.
     */
    abstract void prepare(MemorySegment ring, SeededRandom random);

    /** Start of a slot or a posting that the victim is about to look at. */
    abstract long pending(RingField.Place place, SeededRandom random);

    /** The expected result for a copy of the memory. */
    abstract Outcome expect(MemorySegment copy);

    /** The actual result. */
    abstract Outcome decode();

    /** Blanks what the victim may have written in {@link #decode}. */
    abstract void blankWritten(MemorySegment copy);

    static String nameOf(@Nullable String violation) {
        if (violation == null) {
            throw new AssertionError("a ring is corrupt and does not say why");
        }
        return violation.substring(0, violation.indexOf(" out of range: seen="));
    }

    static long longAt(MemorySegment memory, long offset) {
        return memory.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    }

    static int intAt(MemorySegment memory, long offset) {
        return memory.get(ValueLayout.JAVA_INT_UNALIGNED, offset);
    }

    static int byteAt(MemorySegment memory, long offset) {
        return memory.get(ValueLayout.JAVA_BYTE, offset) & 0xff;
    }

    /** Order counts. */
    static final class Digest {
        private long value = 1;

        Digest add(long more) {
            value = (value ^ more) * 0x9e3779b97f4a7c15L;
            value ^= value >>> 32;
            return this;
        }

        Digest add(MemorySegment memory, long offset, long lengthBytes) {
            for (long i = 0; i < lengthBytes; i++) {
                add(byteAt(memory, offset + i));
            }
            return this;
        }

        long value() {
            return value;
        }
    }
}
