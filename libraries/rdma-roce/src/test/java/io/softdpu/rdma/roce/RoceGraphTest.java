package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaGraphContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceGraphTest extends RdmaGraphContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
