package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaProcessContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmProcessTest extends RdmaProcessContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
