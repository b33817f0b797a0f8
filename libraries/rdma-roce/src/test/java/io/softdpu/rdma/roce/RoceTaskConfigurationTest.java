package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaTaskConfigurationContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceTaskConfigurationTest extends RdmaTaskConfigurationContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
