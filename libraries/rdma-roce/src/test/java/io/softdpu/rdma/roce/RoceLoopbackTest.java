package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaLoopbackContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceLoopbackTest extends RdmaLoopbackContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
