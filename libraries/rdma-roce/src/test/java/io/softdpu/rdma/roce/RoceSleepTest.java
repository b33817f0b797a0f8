package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaSleepContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceSleepTest extends RdmaSleepContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
