package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaInFlightContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceInFlightTest extends RdmaInFlightContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
