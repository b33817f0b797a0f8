package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaPropertyContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RocePropertyTest extends RdmaPropertyContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
