package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaListenLeakContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmListenLeakTest extends RdmaListenLeakContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
