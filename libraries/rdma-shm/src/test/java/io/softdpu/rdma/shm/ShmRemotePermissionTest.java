package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaRemotePermissionContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmRemotePermissionTest extends RdmaRemotePermissionContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
