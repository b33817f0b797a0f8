package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaFailureContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmFailureTest extends RdmaFailureContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
