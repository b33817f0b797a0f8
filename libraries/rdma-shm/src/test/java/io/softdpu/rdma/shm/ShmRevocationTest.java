package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaRevocationContract;
import io.softdpu.rdma.contract.RdmaSite;

class ShmRevocationTest extends RdmaRevocationContract {
    @Override
    protected RdmaSite site() {
        return new ShmSite();
    }
}
