package io.softdpu.rdma.shm;

import io.softdpu.core.Side;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Topology;
import io.softdpu.rdma.contract.RdmaSendReceiveContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import io.softdpu.rdma.contract.RdmaTrait;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.util.Set;

/** Sends and receives between host and DPU. */
@Clause("rdma-003")
class ShmHostToDpuTest extends RdmaSendReceiveContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new HostToDpu();
    }

    private static final class HostToDpu implements RdmaTestEnvironment {
        private final ShmTestEnvironment devices = new ShmTestEnvironment();

        @Override
        public Side nearSide() {
            return Side.HOST;
        }

        @Override
        public Side farSide() {
            return Side.DPU;
        }

        @Override
        public Machine openMachine(Path folder, Side side, Topology topology) {
            return devices.openMachine(folder, side, topology);
        }

        @Override
        public Set<RdmaTrait> traits() {
            return devices.traits();
        }

        @Override
        public String device(Side side) {
            return devices.device(side);
        }
    }
}
