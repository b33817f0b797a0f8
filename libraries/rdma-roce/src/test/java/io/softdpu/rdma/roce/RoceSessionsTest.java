package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaSessionsContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceSessionsTest extends RdmaSessionsContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
