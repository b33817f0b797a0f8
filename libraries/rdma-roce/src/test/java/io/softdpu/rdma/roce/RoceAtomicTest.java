package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaAtomicContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceAtomicTest extends RdmaAtomicContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
