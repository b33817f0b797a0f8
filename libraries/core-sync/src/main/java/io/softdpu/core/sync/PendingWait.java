package io.softdpu.core.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;

/** Wait of a task or a job, in flight. The thread of its engine or queue. */
interface PendingWait {
    /** Whether a value of the event ends the wait. */
    boolean isMet(long value);

    /** Completes it with success. */
    void met(long value);

    /** Completes it with a failure. */
    void failed(Status how);

    /**
     * Refuses a mask that no card has.
     *
     * @return the mask
     * @throws DpuException INVALID_VALUE unless it is 0, or 1, 2, 4 or 8 bytes of ones
     */
    static long requireMask(long mask) {
        int ones = 0;
        boolean whole = true;
        for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
            int part = (int) (mask >>> shift) & 0xff;
            whole &= part == 0 || part == 0xff;
            ones += part & 1;
        }
        if (!whole || Integer.bitCount(ones) > 1) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "mask of an asynchronous wait refused: mask=%#x, expected=0, or 1, 2, 4"
                                    + " or 8 bytes of ones, the other bytes 0",
                            mask));
        }
        return mask;
    }
}
