package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaRefusalContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmRefusalTest extends RdmaRefusalContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
