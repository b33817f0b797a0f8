package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaOperationsContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmOperationsTest extends RdmaOperationsContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
