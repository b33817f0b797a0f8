package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaAllocationContract;
import io.softdpu.rdma.contract.RdmaSite;

class ShmAllocationTest extends RdmaAllocationContract {
    @Override
    protected RdmaSite site() {
        return new ShmSite();
    }
}
