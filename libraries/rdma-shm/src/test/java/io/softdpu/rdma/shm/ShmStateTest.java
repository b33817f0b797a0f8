package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaStateContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmStateTest extends RdmaStateContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
