package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaImmediateContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceImmediateTest extends RdmaImmediateContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
