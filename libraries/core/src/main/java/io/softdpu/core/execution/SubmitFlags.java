package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;

/**
 * What a submission wishes for beyond being done; with the DOCA numbers. A value; any thread.
 *
 * @param bits the flags' numbers, added up
 */
public record SubmitFlags(int bits) {
    private static final int FLUSH_BIT = 1;
    private static final int OPTIMIZE_REPORTS_BIT = 1 << 1;
    private static final int ALL_BITS = FLUSH_BIT | OPTIMIZE_REPORTS_BIT;

    /**
     * No wish: the library may collect several submissions before it rings for them, until one with
     * {@link #FLUSH} or the next progress, whichever comes first.
     */
    public static final SubmitFlags NONE = new SubmitFlags(0);

    /**
     * The library rings now, for this task and all that were submitted to the context before it. A
     * peer that sleeps is then woken without a progress on this side, for the price of a system
     * call.
     */
    public static final SubmitFlags FLUSH = new SubmitFlags(FLUSH_BIT);

    /**
     * The callback of this task may be late: it may wait for that of a task submitted later without
     * this flag, so that a card can report several at once. It comes in any case, as long as
     * progress is made. softdpu reports at once; a sanitizer makes use of the permission.
     */
    public static final SubmitFlags OPTIMIZE_REPORTS = new SubmitFlags(OPTIMIZE_REPORTS_BIT);

    private static final SubmitFlags BOTH = new SubmitFlags(ALL_BITS);

    /**
     * Checks that the flags are known.
     *
     * @throws DpuException INVALID_VALUE if a bit is unknown
     */
    public SubmitFlags {
        if ((bits & ~ALL_BITS) != 0) {
            throw new DpuException(
                    Status.INVALID_VALUE, "unknown submit flags: bits=%#x".formatted(bits));
        }
    }

    /** These flags and those. Allocates nothing. */
    public SubmitFlags and(SubmitFlags other) {
        return switch (bits | Arguments.notNull(other, "other").bits) {
            case 0 -> NONE;
            case FLUSH_BIT -> FLUSH;
            case OPTIMIZE_REPORTS_BIT -> OPTIMIZE_REPORTS;
            default -> BOTH;
        };
    }

    /** Whether {@link #FLUSH} is among them. */
    public boolean flushes() {
        return (bits & FLUSH_BIT) != 0;
    }

    /** Whether {@link #OPTIMIZE_REPORTS} is among them. */
    public boolean optimizesReports() {
        return (bits & OPTIMIZE_REPORTS_BIT) != 0;
    }
}
