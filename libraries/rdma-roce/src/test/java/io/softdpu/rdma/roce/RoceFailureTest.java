package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaFailureContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceFailureTest extends RdmaFailureContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
