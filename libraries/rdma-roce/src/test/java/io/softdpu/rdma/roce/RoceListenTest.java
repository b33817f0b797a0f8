package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaListenContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceListenTest extends RdmaListenContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
