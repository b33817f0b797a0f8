package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaSyncEventWakeContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceSyncEventWakeTest extends RdmaSyncEventWakeContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
