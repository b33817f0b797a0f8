package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaMessagePermissionContract;
import io.softdpu.rdma.contract.RdmaSite;

class ShmMessagePermissionTest extends RdmaMessagePermissionContract {
    @Override
    protected RdmaSite site() {
        return new ShmSite();
    }
}
