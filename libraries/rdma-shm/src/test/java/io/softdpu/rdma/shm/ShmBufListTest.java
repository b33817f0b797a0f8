package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaBufListContract;
import io.softdpu.rdma.contract.RdmaSite;

class ShmBufListTest extends RdmaBufListContract {
    @Override
    protected RdmaSite site() {
        return new ShmSite();
    }
}
