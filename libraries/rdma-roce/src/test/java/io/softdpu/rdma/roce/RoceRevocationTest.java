package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaRevocationContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceRevocationTest extends RdmaRevocationContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
