package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaInFlightContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmInFlightTest extends RdmaInFlightContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
