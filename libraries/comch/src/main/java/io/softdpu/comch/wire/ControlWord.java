package io.softdpu.comch.wire;

/**
 * The word of a control message.
 *
 * <pre>
 *   bits  0..31  consumer id
 *   bits 32..63  status: DOCA number, 0 where the type has none
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

    /** The consumer's id; any number. */
    public static int consumerId(long word) {
        return (int) word;
    }

    /** The status; any number. */
    public static int statusCode(long word) {
        return (int) (word >>> 32);
    }
}
