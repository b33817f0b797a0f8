package io.softdpu.rdma.shm;

import io.softdpu.core.device.DeviceInfo;
import io.softdpu.rdma.spi.EndpointConfig;
import io.softdpu.rdma.spi.EndpointListener;
import io.softdpu.rdma.spi.ProviderEndpoint;
import io.softdpu.rdma.spi.ProviderLimits;
import io.softdpu.rdma.spi.RdmaProvider;

/**
 * RDMA provider for peers with the same kernel and the same fabric folder; supports every device.
 * Loaded by ServiceLoader.
 */
public final class ShmProvider implements RdmaProvider {
    private static final ProviderLimits LIMITS =
            ProviderLimits.ofQueuesInMemory(
                    ShmWire.MAX_MESSAGE_BYTES,
                    ShmDetails.MIN_PATH_MTU_BYTES,
                    ShmDetails.MAX_PATH_MTU_BYTES);

    /** For ServiceLoader. */
    public ShmProvider() {}

    @Override
    public String name() {
        return "shm";
    }

    @Override
    public int id() {
        return 1;
    }

    @Override
    public boolean supports(DeviceInfo device) {
        return true;
    }

    @Override
    public ProviderLimits limits(DeviceInfo device) {
        return LIMITS;
    }

    @Override
    public ProviderEndpoint open(EndpointConfig config, EndpointListener listener) {
        return new ShmEndpoint(config, listener);
    }
}
