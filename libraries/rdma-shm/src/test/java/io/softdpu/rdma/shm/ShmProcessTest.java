package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaProcessContract;
import io.softdpu.rdma.contract.RdmaSite;

class ShmProcessTest extends RdmaProcessContract {
    @Override
    protected RdmaSite site() {
        return new ShmSite();
    }
}
