package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaSite;
import io.softdpu.rdma.contract.RdmaStateContract;

class ShmStateTest extends RdmaStateContract {
    @Override
    protected RdmaSite site() {
        return new ShmSite();
    }
}
