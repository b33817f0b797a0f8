package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaMessagePermissionContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmMessagePermissionTest extends RdmaMessagePermissionContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
