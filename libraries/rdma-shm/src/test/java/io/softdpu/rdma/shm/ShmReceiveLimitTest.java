package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.LimitedTestEnvironment;
import io.softdpu.rdma.contract.RdmaReceiveLimitContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmReceiveLimitTest extends RdmaReceiveLimitContract {
    @Override
    protected RdmaTestEnvironment environment() {
        ShmTestEnvironment devices = new ShmTestEnvironment();
        return new LimitedTestEnvironment(
                devices, function -> function.side() == devices.farSide());
    }
}
