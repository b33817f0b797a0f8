package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaCompletionContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmCompletionTest extends RdmaCompletionContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
