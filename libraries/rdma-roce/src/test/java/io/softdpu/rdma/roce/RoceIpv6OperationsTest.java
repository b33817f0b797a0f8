package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaOperationsContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

@NeedsIpv6
class RoceIpv6OperationsTest extends RdmaOperationsContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceIpv6TestEnvironment();
    }
}
