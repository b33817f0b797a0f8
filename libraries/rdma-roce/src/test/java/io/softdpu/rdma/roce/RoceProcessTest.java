package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaProcessContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceProcessTest extends RdmaProcessContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
