package io.softdpu.rdma.roce.wire;

/**
 * Arithmetic of the 24-bit sequence numbers of packets (PSN) and messages (MSN), which wrap from
 * 0xffffff to 0. A number is an {@code int} from 0 to {@link #MAX}; the results are such numbers.
 *
 * <p>Of two numbers the later one is at most {@link #MAX_WINDOW} - 1 behind the earlier one; two
 * that are exactly half of all numbers apart have no order (InfiniBand Architecture Specification,
 * volume 1, section 9.7.1).
 */
public final class SequenceNumber {
    /** The largest number. */
    public static final int MAX = 0xff_ffff;

    /** Half of all numbers: the limit of a window, and of packets that are not acknowledged. */
    public static final int MAX_WINDOW = 1 << 23;

    private static final int BITS_ABOVE = Integer.SIZE - 24;

    private SequenceNumber() {}

    /** The low 24 bits. */
    public static int of(int bits) {
        return bits & MAX;
    }

    /** The number after one. */
    public static int next(int number) {
        return of(number + 1);
    }

    /** The number that many steps later, or earlier if {@code steps} is negative. */
    public static int add(int number, int steps) {
        return of(number + steps);
    }

    /**
     * Number of steps from one number to another, in the shorter direction.
     *
     * @return -2^23 to 2^23 - 1; negative if {@code to} is earlier, or exactly half of all numbers
     *     away
     */
    public static int distance(int from, int to) {
        return (to - from) << BITS_ABOVE >> BITS_ABOVE;
    }

    /** Whether one number is earlier than another; false for both orders at half of all numbers. */
    public static boolean isBefore(int earlier, int later) {
        return distance(earlier, later) > 0;
    }

    /**
     * Whether a number is one of {@code count} numbers from {@code first} on.
     *
     * @param count 0 to 2^24
     */
    public static boolean isInWindow(int number, int first, int count) {
        return of(number - first) < count;
    }
}
