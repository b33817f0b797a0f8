package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaPciContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RocePciTest extends RdmaPciContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
