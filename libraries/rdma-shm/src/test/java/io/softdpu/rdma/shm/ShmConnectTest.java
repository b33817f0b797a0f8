package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaConnectContract;
import io.softdpu.rdma.contract.RdmaSite;

class ShmConnectTest extends RdmaConnectContract {
    @Override
    protected RdmaSite site() {
        return new ShmSite();
    }
}
