package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaAllocationContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmAllocationTest extends RdmaAllocationContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
