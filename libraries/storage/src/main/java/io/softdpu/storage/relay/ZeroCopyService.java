package io.softdpu.storage.relay;

import io.softdpu.core.DpuException;
import io.softdpu.core.device.Machine;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.StorageRole;

/**
 * The zero-copy service: serves one initiator, by way of one storage target, for one session.
 *
 * <p>The steps, their order and the roles of the threads are those of the application guide. Each
 * control command is relayed to the target, its response awaited and checked, the own part done,
 * and only then the initiator answered; whatever fails is answered with an error_response, a
 * target's own verbatim, and ends the session.
 */
public sealed interface ZeroCopyService extends StorageRole permits ServiceSession {
    /**
     * Opens the device and the representor.
     *
     * @param machine must stand on the DPU side; stays the caller's
     * @throws DpuException NOT_PERMITTED on another side; NOT_FOUND, listing what there is, for an
     *     unknown device or representor
     */
    static ZeroCopyService open(Machine machine, ServiceOptions options, SessionListener listener) {
        return ServiceSession.open(machine, options, listener);
    }
}
