package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaConnectContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmConnectTest extends RdmaConnectContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
