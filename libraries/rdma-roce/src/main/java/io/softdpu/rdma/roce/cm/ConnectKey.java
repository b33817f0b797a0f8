package io.softdpu.rdma.roce.cm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.random.RandomGenerator;

/**
 * Key of one end of a connection by blob: 128 random bits, which the peer's end has from the blob.
 * Of two ends the one with the lower key, as an unsigned number, sends the REQ. Immutable.
 */
public record ConnectKey(long high, long low) implements Comparable<ConnectKey> {
    /** Size of the encoded form. */
    public static final int WIRE_BYTES = 16;

    private static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** A new key. */
    static ConnectKey random(RandomGenerator random) {
        return new ConnectKey(random.nextLong(), random.nextLong());
    }

    /** Writes it, big-endian. */
    public void encode(MemorySegment bytes, long at) {
        bytes.set(U64, at, high);
        bytes.set(U64, at + Long.BYTES, low);
    }

    /** Reads it. */
    public static ConnectKey decode(MemorySegment bytes, long at) {
        return new ConnectKey(bytes.get(U64, at), bytes.get(U64, at + Long.BYTES));
    }

    @Override
    public int compareTo(ConnectKey other) {
        int result = Long.compareUnsigned(high, other.high);
        return result != 0 ? result : Long.compareUnsigned(low, other.low);
    }

    /** Without the key, which must not appear in logs. */
    @Override
    public String toString() {
        return "key";
    }
}
