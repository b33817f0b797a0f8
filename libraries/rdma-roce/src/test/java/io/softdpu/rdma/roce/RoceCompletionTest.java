package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaCompletionContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceCompletionTest extends RdmaCompletionContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
