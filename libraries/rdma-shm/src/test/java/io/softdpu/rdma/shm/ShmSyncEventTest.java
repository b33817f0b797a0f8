package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaSyncEventContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmSyncEventTest extends RdmaSyncEventContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
