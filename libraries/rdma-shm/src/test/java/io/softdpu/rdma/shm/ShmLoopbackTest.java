package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaLoopbackContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmLoopbackTest extends RdmaLoopbackContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
