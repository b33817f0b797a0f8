package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaSite;
import io.softdpu.rdma.contract.RdmaSleepContract;

class ShmSleepTest extends RdmaSleepContract {
    @Override
    protected RdmaSite site() {
        return new ShmSite();
    }
}
