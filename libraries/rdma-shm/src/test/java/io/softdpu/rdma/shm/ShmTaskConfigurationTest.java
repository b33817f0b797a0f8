package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaTaskConfigurationContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmTaskConfigurationTest extends RdmaTaskConfigurationContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
