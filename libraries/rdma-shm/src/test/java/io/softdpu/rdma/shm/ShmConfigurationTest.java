package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaConfigurationContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmConfigurationTest extends RdmaConfigurationContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
