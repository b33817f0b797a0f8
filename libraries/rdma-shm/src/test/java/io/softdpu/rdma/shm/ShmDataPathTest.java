package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaDataPathContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmDataPathTest extends RdmaDataPathContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
