package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaDataPathContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceDataPathTest extends RdmaDataPathContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
