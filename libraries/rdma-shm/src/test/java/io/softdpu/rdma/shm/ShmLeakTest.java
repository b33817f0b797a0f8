package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaLeakContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmLeakTest extends RdmaLeakContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
