package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaListenProcessContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmListenProcessTest extends RdmaListenProcessContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
