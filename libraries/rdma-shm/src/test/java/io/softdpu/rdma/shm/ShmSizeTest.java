package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaSizeContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmSizeTest extends RdmaSizeContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
