package io.softdpu.storage.server;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.device.Machine;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.StorageRole;
import java.net.InetSocketAddress;

/**
 * Storage target: serves one volume to one service, for one session. RDMA reads and writes the
 * blocks where they are {@linkplain BlockDevice#memory memory} of this process; those of any other
 * volume go through memory of the target, see {@link TargetOptions#stagingBytes}.
 */
public sealed interface StorageTarget extends StorageRole permits TargetSession {
    /**
     * Opens the device, attaches the volume to it and opens the port.
     *
     * @param machine still belongs to the caller
     * @param volume belongs to the target from now on, also if this fails
     * @throws DpuException NOT_FOUND, listing the devices, for an unknown device; NO_MEMORY if the
     *     volume is staged and {@link TargetOptions#stagingBytes} is less than one piece; IN_USE if
     *     the port is in use
     */
    static StorageTarget open(
            Machine machine, TargetOptions options, BlockDevice volume, SessionListener listener) {
        return TargetSession.open(machine, options, volume, listener);
    }

    /** The port that it listens on; the assigned one if the option was 0. */
    default int port() {
        return address().getPort();
    }

    /** The address and the port that it listens on. */
    InetSocketAddress address();
}
