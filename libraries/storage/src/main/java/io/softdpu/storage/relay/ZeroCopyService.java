package io.softdpu.storage.relay;

import io.softdpu.core.DpuException;
import io.softdpu.core.device.Machine;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.StorageRole;

/**
 * Zero-copy service: connects one initiator to one storage target for one session.
 *
 * <p>The steps, their order and the roles of the threads are those of the application guide. Each
 * control request is relayed to the target, whose response is awaited and checked; then the service
 * performs its own part and replies to the initiator. A failure is replied with an error_response
 * (the target's own verbatim), and ends the session.
 */
public sealed interface ZeroCopyService extends StorageRole permits ServiceSession {
    /**
     * Opens the device and the representor.
     *
     * @param machine of the DPU side; still belongs to the caller
     * @throws DpuException NOT_PERMITTED on another side; NOT_FOUND, listing the existing ones, for
     *     an unknown device or representor
     */
    static ZeroCopyService open(Machine machine, ServiceOptions options, SessionListener listener) {
        return ServiceSession.open(machine, options, listener);
    }
}
