package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaSessionsContract;
import io.softdpu.rdma.contract.RdmaSite;

class ShmSessionsTest extends RdmaSessionsContract {
    @Override
    protected RdmaSite site() {
        return new ShmSite();
    }
}
