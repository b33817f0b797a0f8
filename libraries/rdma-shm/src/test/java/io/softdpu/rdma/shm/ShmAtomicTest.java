package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaAtomicContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmAtomicTest extends RdmaAtomicContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
