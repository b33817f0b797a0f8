package io.softdpu.storage.worker;

import io.softdpu.core.execution.CpuBinding;

/**
 * Position of a worker among those of its session, and the processor for its thread.
 *
 * @param index counted from 0
 * @param count how many the session has
 * @param cpu what the worker's thread is bound to
 */
public record WorkerSlot(int index, int count, CpuBinding cpu) {
    /**
     * Initiator, service and target: one thread of each for each core, when all share a machine.
     */
    private static final int ROLES = 3;

    /** How many threads may poll at the same time on this computer. */
    public int pollers() {
        return ROLES * count;
    }
}
