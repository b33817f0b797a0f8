package io.softdpu.rdma.roce;

import io.softdpu.core.device.DeviceInfo;
import io.softdpu.rdma.roce.nic.Nic;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.spi.EndpointConfig;
import io.softdpu.rdma.spi.EndpointListener;
import io.softdpu.rdma.spi.ProviderEndpoint;
import io.softdpu.rdma.spi.ProviderLimits;
import io.softdpu.rdma.spi.RdmaProvider;

/**
 * Keeps the provider from users, who have the rest of the package: what it implements is for the
 * library alone.
 */
final class RoceService {
    private RoceService() {}

    /**
     * RDMA provider over UDP, for devices whose address is one of this machine. It connects by
     * blob, and by addresses of the family of the instance's GID. Loaded by ServiceLoader.
     */
    public static final class Provider implements RdmaProvider {
        static final String NAME = "roce";
        static final int ID = 2;

        private static final ProviderLimits LIMITS =
                ProviderLimits.ofQueuesInMemory(
                        1L << 30, RoceDetails.MIN_PATH_MTU_BYTES, RoceDetails.MAX_PATH_MTU_BYTES);

        /** For ServiceLoader. */
        public Provider() {}

        @Override
        public String name() {
            return NAME;
        }

        @Override
        public int id() {
            return ID;
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
            Gid gid = Gid.ofAddress(config.gid().getAddress());
            Nic.requireLocal(gid);
            return new RoceEndpoint(config, listener, gid);
        }
    }
}
