package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaBoundsContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmBoundsTest extends RdmaBoundsContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
