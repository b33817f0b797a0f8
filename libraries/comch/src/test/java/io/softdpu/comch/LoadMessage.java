package io.softdpu.comch;

import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;

/**
 * Content of the numbered messages of a {@link LoadSession}: length and bytes follow from producer,
 * consumer and number, so that the receiver knows them. The immediate data is the number, inverted
 * in the last message of a producer to a consumer.
 */
record LoadMessage(byte[] bytes, long immediate) {
    /** Longer than a copy of one pass of progress. */
    static final int LARGEST_BYTES = 640 << 10;

    private static final int INLINE_BYTES = 64;
    private static final int MEDIUM_BYTES = 4096;
    private static final long PRIME = 0x9e37_79b9_7f4a_7c15L;

    static LoadMessage of(int producerId, int consumerId, long number, boolean last) {
        SplittableRandom random =
                new SplittableRandom(((long) producerId << 32 | consumerId) * PRIME + number);
        byte[] bytes = new byte[length(random)];
        random.nextBytes(bytes);
        return new LoadMessage(bytes, last ? ~number : number);
    }

    /** Mostly in the slot, many slightly larger, and a few of several slices. */
    private static int length(SplittableRandom random) {
        int kind = random.nextInt(256);
        if (kind == 0) {
            return random.nextInt(MEDIUM_BYTES, LARGEST_BYTES);
        }
        return 1 + random.nextInt(kind < 64 ? MEDIUM_BYTES : INLINE_BYTES);
    }

    /** Throws if the bytes or the immediate data differ; what was received may be the last one. */
    static void require(
            int producerId, int consumerId, long number, MemorySegment bytes, long immediate) {
        LoadMessage expected = of(producerId, consumerId, number, immediate < 0);
        if (immediate != expected.immediate) {
            throw new AssertionError(
                    Text.format(
                            "message lost or duplicated: producer=%d, consumer=%d, number=%d,"
                                    + " expected=%d",
                            producerId,
                            consumerId,
                            immediate < 0 ? ~immediate : immediate,
                            number));
        }
        long wrong = bytes.mismatch(MemorySegment.ofArray(expected.bytes));
        if (wrong >= 0) {
            throw new AssertionError(
                    Text.format(
                            "message is corrupt: producer=%d, consumer=%d, number=%d,"
                                    + " lengthBytes=%d, expected=%d, firstWrongByte=%d",
                            producerId,
                            consumerId,
                            number,
                            bytes.byteSize(),
                            expected.bytes.length,
                            wrong));
        }
    }

    /** The immediate data of a received message, which must be a number. */
    static long immediate(ComchPostReceiveTask task) {
        if (task.immediateLength() != Long.BYTES) {
            throw new AssertionError(
                    "immediate data is cut: lengthBytes=" + task.immediateLength());
        }
        return task.immediate().get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
    }
}
