package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaRevocationContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmRevocationTest extends RdmaRevocationContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
