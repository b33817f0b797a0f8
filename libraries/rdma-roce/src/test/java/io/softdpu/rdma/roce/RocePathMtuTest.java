package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaPathMtuContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RocePathMtuTest extends RdmaPathMtuContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
