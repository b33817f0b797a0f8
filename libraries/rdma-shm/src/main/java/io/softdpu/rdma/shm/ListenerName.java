package io.softdpu.rdma.shm;

import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Bus name of a listener: the function of its device and the port. All addresses of the function
 * lead to it.
 */
final class ListenerName {
    /** Beginning of the bus names of all listeners. */
    static final String PREFIX = "rdma:";

    private ListenerName() {}

    /** Name of a function's port. The separator cannot occur in the names of a topology. */
    static String of(PciFunction function, int port) {
        return PREFIX + function.key() + ":" + port;
    }

    /** The function of the device's topology with this address; null if there is none. */
    static @Nullable PciFunction functionAt(DeviceInfo device, InetAddress address) {
        Topology topology = device.machine().topologyNow();
        for (PciFunction function : topology.functions()) {
            if (hasAddress(function, address)) {
                return function;
            }
        }
        return null;
    }

    /** Whether an address is one of a function's: IPv4, IPv6, or a GID that is one of these. */
    static boolean hasAddress(PciFunction function, InetAddress address) {
        return address.equals(function.ipv4()) || address.equals(function.ipv6());
    }
}
