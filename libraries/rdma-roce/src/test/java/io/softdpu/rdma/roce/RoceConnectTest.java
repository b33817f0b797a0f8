package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaConnectContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceConnectTest extends RdmaConnectContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
