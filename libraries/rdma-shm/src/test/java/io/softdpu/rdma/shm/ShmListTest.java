package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaListContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmListTest extends RdmaListContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
