package io.softdpu.storage.initiator;

import io.softdpu.core.DpuException;
import io.softdpu.core.device.Machine;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.StorageRole;
import io.softdpu.storage.workload.Workload;

/**
 * A storage initiator: carries out a workload in one session with a zero-copy service.
 *
 * <p>Nothing is masked: the result of each reply is looked at and its user data must name a
 * transaction in flight. A failed operation or data that differs ends the workload, but not the
 * pipeline: the service and the target are stopped and shut down in order, and then {@link #run}
 * throws what went wrong.
 */
public sealed interface StorageInitiator extends StorageRole permits InitiatorSession {
    /**
     * Opens the device.
     *
     * @param machine of the host side; stays the caller's
     * @throws DpuException NOT_PERMITTED on another side; NOT_FOUND, listing what there is, for an
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
     * @throws DataMismatchException the data that arrived is not what was expected
     * @throws DpuException as in {@link StorageRole#run}; the status of a reply that was no success
     */
    @Override
    SessionReport run();

    /** What is known of the phases at this moment; any thread, at any time, also after a run. */
    InitiatorReport initiatorReport();
}
