package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaRefusalContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceRefusalTest extends RdmaRefusalContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
