package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaReadWriteContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmReadWriteTest extends RdmaReadWriteContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
