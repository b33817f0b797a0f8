package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaConfigurationContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceConfigurationTest extends RdmaConfigurationContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
