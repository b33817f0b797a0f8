package io.softdpu.storage.initiator;

import io.softdpu.core.DpuException;
import io.softdpu.core.device.Machine;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.StorageRole;
import io.softdpu.storage.workload.Workload;

/**
 * Storage initiator: runs a workload in one session with a zero-copy service.
 *
 * <p>The result of each reply is checked, and its user data must name a transaction in flight. A
 * failed operation or a difference of data ends the workload, but the service and the target are
 * still stopped and shut down in an orderly way before {@link #run} throws the failure.
 */
public sealed interface StorageInitiator extends StorageRole permits InitiatorSession {
    /**
     * Opens the device.
     *
     * @param machine of the host side; still belongs to the caller
     * @throws DpuException NOT_PERMITTED on another side; NOT_FOUND, listing the devices, for an
     *     unknown device
     */
    static StorageInitiator open(
            Machine machine,
            InitiatorOptions options,
            Workload workload,
            InitiatorListener listener) {
        return InitiatorSession.open(machine, options, workload, listener);
    }

    /**
     * Runs the session.
     *
     * @throws DataMismatchException if received data differs from the expected data
     * @throws DpuException as in {@link StorageRole#run}; the status of a failed operation
     */
    @Override
    SessionReport run();

    /**
     * The current state of the report with the phases; any thread, at any time, also after a run.
     */
    InitiatorReport initiatorReport();

    /**
     * The latencies of all operations until now, from their submission, also of those of a warm-up.
     * Any thread, at any time.
     */
    LatencyCounts latencyCounts();
}
