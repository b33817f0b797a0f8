package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaReadWriteContract;
import io.softdpu.rdma.contract.RdmaSite;

class ShmReadWriteTest extends RdmaReadWriteContract {
    @Override
    protected RdmaSite site() {
        return new ShmSite();
    }
}
