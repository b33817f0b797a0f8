package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaPropertyContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmPropertyTest extends RdmaPropertyContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
