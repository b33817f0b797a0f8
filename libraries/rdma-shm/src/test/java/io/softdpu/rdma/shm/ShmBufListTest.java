package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaBufListContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmBufListTest extends RdmaBufListContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
