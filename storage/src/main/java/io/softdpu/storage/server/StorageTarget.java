package io.softdpu.storage.server;

import io.softdpu.core.DpuException;
import io.softdpu.core.device.Machine;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.StorageRole;
import io.softdpu.storage.backend.Volume;
import java.net.InetSocketAddress;

/** A storage target: serves one volume to one service, for one session. */
public final class StorageTarget implements StorageRole {
    private final TargetSession session;

    private StorageTarget(TargetSession session) {
        this.session = session;
    }

    /**
     * Opens the device, attaches the volume to it and opens the port.
     *
     * @param machine stays the caller's
     * @param volume belongs to the target from here on, also where this fails
     * @throws DpuException NOT_FOUND, listing what there is, for an unknown device; IN_USE where
     *     the port is taken
     */
    public static StorageTarget open(
            Machine machine, TargetOptions options, Volume volume, SessionListener listener) {
        return new StorageTarget(TargetSession.open(machine, options, volume, listener));
    }

    /** The port that it listens on, the real one where any was asked for. */
    public int port() {
        return address().getPort();
    }

    /** The address and the port that it listens on. */
    public InetSocketAddress address() {
        return session.address();
    }

    @Override
    public SessionReport run() {
        return session.run();
    }

    @Override
    public void abort(String reason) {
        session.abort(reason);
    }

    @Override
    public SessionReport report() {
        return session.report();
    }

    @Override
    public void close() {
        session.close();
    }
}
