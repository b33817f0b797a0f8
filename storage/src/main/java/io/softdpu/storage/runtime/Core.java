package io.softdpu.storage.runtime;

import io.softdpu.core.execution.CpuBinding;

/**
 * A place for a worker.
 *
 * @param index counted from 0
 * @param count how many the session has
 * @param cpu what the worker's thread is bound to
 */
public record Core(int index, int count, CpuBinding cpu) {
    /**
     * Initiator, service and target: one thread of each for each core, when all share a machine.
     */
    private static final int ROLES = 3;

    /** How many threads may poll at the same time on this computer. */
    public int pollers() {
        return ROLES * count;
    }
}
