package io.softdpu.storage.workload;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.util.List;

/**
 * Workload of an initiator's session.
 *
 * @param phases in order, at least one
 */
public record Workload(List<Phase> phases) {
    /** Copies the list; throws INVALID_VALUE if it is empty. */
    public Workload {
        phases = List.copyOf(phases);
        if (phases.isEmpty()) {
            throw new DpuException(
                    Status.INVALID_VALUE, "workload is empty: phases=0, expected=at least 1");
        }
    }

    /** Largest number of operations in flight per worker. */
    public int maxTransactions() {
        int most = 1;
        for (Phase phase : phases) {
            most = Math.max(most, (int) Math.min(phase.transactions(), phase.operations()));
        }
        return most;
    }
}
