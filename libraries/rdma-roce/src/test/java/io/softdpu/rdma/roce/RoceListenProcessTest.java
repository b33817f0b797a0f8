package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaListenProcessContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceListenProcessTest extends RdmaListenProcessContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
