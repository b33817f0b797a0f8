package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaSyncEventWakeContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmSyncEventWakeTest extends RdmaSyncEventWakeContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
