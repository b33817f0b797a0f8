package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaOperationsContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceParametersOperationsTest extends RdmaOperationsContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceParametersTestEnvironment();
    }
}
