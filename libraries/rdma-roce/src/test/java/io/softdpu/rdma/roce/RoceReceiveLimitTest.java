package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.LimitedTestEnvironment;
import io.softdpu.rdma.contract.RdmaReceiveLimitContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceReceiveLimitTest extends RdmaReceiveLimitContract {
    @Override
    protected RdmaTestEnvironment environment() {
        RoceTestEnvironment devices = new RoceTestEnvironment();
        return new LimitedTestEnvironment(
                devices, function -> function.side() == devices.farSide());
    }
}
