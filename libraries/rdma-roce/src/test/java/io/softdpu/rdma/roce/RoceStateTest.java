package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaStateContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceStateTest extends RdmaStateContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
