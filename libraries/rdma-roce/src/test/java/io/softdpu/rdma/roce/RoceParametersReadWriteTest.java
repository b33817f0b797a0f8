package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaReadWriteContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceParametersReadWriteTest extends RdmaReadWriteContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceParametersTestEnvironment();
    }
}
