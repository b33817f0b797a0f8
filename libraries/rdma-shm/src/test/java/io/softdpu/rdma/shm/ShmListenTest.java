package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaListenContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmListenTest extends RdmaListenContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
