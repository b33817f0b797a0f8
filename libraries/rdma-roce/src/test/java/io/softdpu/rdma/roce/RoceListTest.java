package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaListContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceListTest extends RdmaListContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
