package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaPciContract;
import io.softdpu.rdma.contract.RdmaSite;

class ShmPciTest extends RdmaPciContract {
    @Override
    protected RdmaSite site() {
        return new ShmSite();
    }
}
