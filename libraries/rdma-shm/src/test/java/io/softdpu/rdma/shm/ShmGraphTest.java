package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaGraphContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmGraphTest extends RdmaGraphContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
