package io.softdpu.rdma.roce;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.roce.nic.Nic;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Failure to get the port of RoCE v2 at the address of a NIC. The message names the holder, which
 * is searched for when the message is read: not by an instance that goes on with another provider.
 */
final class PortHeldException extends DpuException {
    private static final long serialVersionUID = 1L;

    private final transient @Nullable Gid own;
    private final transient @Nullable Supplier<String> holder;

    PortHeldException(Nic nic) {
        super(Status.ALREADY_EXIST, "UDP port of RoCE v2 is held: address=" + nic.gid());
        own = nic.gid();
        holder = nic.portHolder();
    }

    @Override
    public String getMessage() {
        if (own == null || holder == null) { // it was serialized
            return String.valueOf(super.getMessage());
        }
        return Text.format(
                "UDP port of RoCE v2, which connections by address and by parameters need,"
                        + " was in use when the device"
                        + " was opened: address=%s, port=%d, portOfDevice=%d, holder=%s,"
                        + " expected=the end of the holder, and then of all connections of the"
                        + " device",
                own.withPort(Headers.UDP_PORT), Headers.UDP_PORT, own.port(), holder.get());
    }
}
