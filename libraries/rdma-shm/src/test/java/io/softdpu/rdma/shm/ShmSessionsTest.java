package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaSessionsContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmSessionsTest extends RdmaSessionsContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
