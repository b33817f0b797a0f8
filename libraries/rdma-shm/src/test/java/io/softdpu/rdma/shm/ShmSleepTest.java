package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaSleepContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmSleepTest extends RdmaSleepContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
