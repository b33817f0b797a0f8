package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.linux.text.Text;

/**
 * Flags of a submission, with the DOCA numbers. Immutable; any thread.
 *
 * @param bits the flags' numbers, added up
 */
public record SubmitFlags(int bits) {
    private static final int FLUSH_BIT = 1;
    private static final int OPTIMIZE_REPORTS_BIT = 1 << 1;
    private static final int ALL_BITS = FLUSH_BIT | OPTIMIZE_REPORTS_BIT;

    /**
     * No flags: the library may batch submissions and ring once for them, at one with {@link
     * #FLUSH} or in the next progress, whichever comes first.
     */
    public static final SubmitFlags NONE = new SubmitFlags(0);

    /**
     * The library rings now, for this task and all that were submitted to the context before it. A
     * sleeping peer is then woken without a progress on this side, at the cost of a system call.
     */
    public static final SubmitFlags FLUSH = new SubmitFlags(FLUSH_BIT);

    /**
     * The callback of this task may be delayed until that of a later task without this flag, so
     * that a card can report several at once. It runs in any case while progress is called. softdpu
     * reports at once; a sanitizer delays such callbacks.
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
                    Status.INVALID_VALUE, Text.format("unknown submit flags: bits=%#x", bits));
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
