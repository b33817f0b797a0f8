package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaPciContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmPciTest extends RdmaPciContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
