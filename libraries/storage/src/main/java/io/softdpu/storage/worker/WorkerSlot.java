package io.softdpu.storage.worker;

import io.softdpu.core.execution.CpuBinding;

/**
 * Index of a worker within its session, and the CPU binding of its thread.
 *
 * @param index counted from 0
 * @param count number of workers of the session
 * @param cpu CPU binding of the worker's thread
 */
public record WorkerSlot(int index, int count, CpuBinding cpu) {
    /**
     * Initiator, service and target: each has a polling thread per worker, if all share a machine.
     */
    private static final int ROLES = 3;

    /** Number of threads that may poll at the same time on this machine. */
    public int pollers() {
        return ROLES * count;
    }
}
