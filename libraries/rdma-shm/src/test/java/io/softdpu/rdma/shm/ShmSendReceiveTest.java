package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaSendReceiveContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmSendReceiveTest extends RdmaSendReceiveContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
