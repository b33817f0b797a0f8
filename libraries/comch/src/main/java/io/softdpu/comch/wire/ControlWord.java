package io.softdpu.comch.wire;

/**
 * Encoding of the 64-bit word of a control message.
 *
 * <pre>
 *   bits  0..31  consumer id
 *   bits 32..63  status: DOCA number, 0 if the type has none
 * </pre>
 */
public final class ControlWord {
    private ControlWord() {}

    /** A word for a type without a status. */
    public static long of(int consumerId) {
        return consumerId & 0xffff_ffffL;
    }

    /** A word for {@link MessageType#CONSUMER_REFUSED}. */
    public static long of(int consumerId, int statusCode) {
        return ((long) statusCode << 32) | (consumerId & 0xffff_ffffL);
    }

    /** The consumer's id; unchecked. */
    public static int consumerId(long word) {
        return (int) word;
    }

    /** The status code; unchecked. */
    public static int statusCode(long word) {
        return (int) (word >>> 32);
    }
}
