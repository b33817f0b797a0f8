package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaSyncEventContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceSyncEventTest extends RdmaSyncEventContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
