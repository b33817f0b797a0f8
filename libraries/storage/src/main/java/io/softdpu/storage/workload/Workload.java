package io.softdpu.storage.workload;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.util.List;

/**
 * Work of an initiator in its session.
 *
 * @param phases one after the other, at least one
 */
public record Workload(List<Phase> phases) {
    /** Takes a copy; INVALID_VALUE where there is no phase. */
    public Workload {
        phases = List.copyOf(phases);
        if (phases.isEmpty()) {
            throw new DpuException(
                    Status.INVALID_VALUE, "workload is empty: phases=0, expected=at least 1");
        }
    }

    /** The most operations that a core will have in flight. */
    public int maxTransactions() {
        int most = 1;
        for (Phase phase : phases) {
            most = Math.max(most, (int) Math.min(phase.transactions(), phase.operations()));
        }
        return most;
    }
}
