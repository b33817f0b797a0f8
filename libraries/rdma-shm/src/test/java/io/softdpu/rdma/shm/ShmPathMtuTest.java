package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaPathMtuContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmPathMtuTest extends RdmaPathMtuContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
