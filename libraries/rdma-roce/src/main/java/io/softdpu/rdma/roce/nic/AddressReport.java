package io.softdpu.rdma.roce.nic;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.UdpSocket;
import io.softdpu.rdma.roce.wire.Gid;
import org.jspecify.annotations.Nullable;

/**
 * Report of an address, as a NIC would find it at the time of the look. Immutable, without I/O but
 * for {@link #of}.
 *
 * @param isPresent whether the address is one of this machine; otherwise the rest is empty or 0
 * @param isPortHeld whether a process, or the kernel, has the port of RoCE v2 there
 * @param portHolder the holder, {@code process PID} or {@code unknown}; empty if there is none
 * @param local the interface with the address; null if it is not known
 * @param receiveBufferBytes what the system grants of the size that was asked for
 * @param sendBufferBytes the same for packets to send
 */
public record AddressReport(
        Gid address,
        boolean isPresent,
        boolean isPortHeld,
        String portHolder,
        @Nullable LocalInterface local,
        int receiveBufferBytes,
        int sendBufferBytes) {
    /**
     * Looks at an address. Takes no port that a NIC may need.
     *
     * @param receiveBufferBytes size of the buffer that a NIC would ask for
     * @param sendBufferBytes the same for packets to send
     * @throws DpuException OPERATING_SYSTEM, NO_MEMORY if the system does not tell
     */
    public static AddressReport of(Gid address, int receiveBufferBytes, int sendBufferBytes) {
        try (UdpSocket socket = Nic.open(address)) {
            boolean held = PortHolder.isHeld(address);
            return new AddressReport(
                    address,
                    true,
                    held,
                    held ? PortHolder.of(address) : "",
                    LocalInterface.of(address),
                    socket.setReceiveBuffer(receiveBufferBytes),
                    socket.setSendBuffer(sendBufferBytes));
        } catch (DpuException e) {
            if (e.status() != Status.NOT_FOUND) {
                throw e;
            }
            return new AddressReport(address, false, false, "", null, 0, 0);
        }
    }
}
