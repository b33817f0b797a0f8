package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaImmediateContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmImmediateTest extends RdmaImmediateContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
