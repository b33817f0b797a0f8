package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaFailureContract;
import io.softdpu.rdma.contract.RdmaSite;

class ShmFailureTest extends RdmaFailureContract {
    @Override
    protected RdmaSite site() {
        return new ShmSite();
    }
}
