package io.softdpu.rdma.roce.cm;

/**
 * Codes of times in connection messages: 5 bits, 4.096 µs x 2^code (InfiniBand Architecture
 * Specification, volume 1, section 12.7).
 */
final class TimeCode {
    private static final long UNIT_NANOS = 4096;
    private static final int MAX = 31;

    private TimeCode() {}

    /** The time of a code, 0 to 31. */
    static long nanos(int code) {
        return UNIT_NANOS << code;
    }

    /** The code of the shortest time that is not shorter; 31 if none is that long. */
    static int atLeast(long nanos) {
        int code = 0;
        while (code < MAX && nanos(code) < nanos) {
            code++;
        }
        return code;
    }
}
