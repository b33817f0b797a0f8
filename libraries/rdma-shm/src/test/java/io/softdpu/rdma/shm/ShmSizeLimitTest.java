package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.LimitedTestEnvironment;
import io.softdpu.rdma.contract.RdmaSizeLimitContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmSizeLimitTest extends RdmaSizeLimitContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new LimitedTestEnvironment(new ShmTestEnvironment(), function -> true);
    }
}
