package io.softdpu.rdma.roce.nic;

import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.rdma.roce.rc.RemoteKeys;
import io.softdpu.rdma.spi.EndpointConfig;
import io.softdpu.rdma.spi.RnrTimer;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/** Endpoint without a device, whose engine never sleeps. */
public final class BareEndpoint {
    static final RemoteKeys NO_KEYS =
            new RemoteKeys() {
                @Override
                public int key(RemoteMemory memory) {
                    return 0;
                }

                @Override
                public long address(RemoteMemory memory) {
                    return 0;
                }
            };

    private BareEndpoint() {}

    /** Its configuration; device and services are null. */
    public static EndpointConfig config() {
        return config(null);
    }

    /** That of an endpoint on a device; services are null. */
    public static EndpointConfig config(@Nullable Device device) {
        return config(device, 1024);
    }

    /** The same with another path MTU of the instance. */
    public static EndpointConfig config(@Nullable Device device, int pathMtuBytes) {
        return new EndpointConfig(
                device,
                null,
                Permissions.LOCAL_READ_ONLY,
                4,
                4,
                1,
                1,
                1,
                pathMtuBytes,
                InetAddress.getLoopbackAddress(),
                7,
                RnrTimer.LONGEST,
                1_000_000_000L);
    }

    /** An endpoint that is not open, and grants nothing to peers. */
    static NicEndpoint of(Nic nic) {
        return new NicEndpoint(nic, config(), (key, address, bytes, right) -> null, NO_KEYS);
    }

    /** The same, beside another interface. */
    static NicEndpoint of(Nic nic, RecentInterface network) {
        return new NicEndpoint(
                nic, config(), (key, address, bytes, right) -> null, NO_KEYS, network);
    }
}
