package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaSendReceiveContract;
import io.softdpu.rdma.contract.RdmaSite;

class ShmSendReceiveTest extends RdmaSendReceiveContract {
    @Override
    protected RdmaSite site() {
        return new ShmSite();
    }
}
