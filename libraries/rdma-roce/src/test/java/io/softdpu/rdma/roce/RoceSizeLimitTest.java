package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.LimitedTestEnvironment;
import io.softdpu.rdma.contract.RdmaSizeLimitContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceSizeLimitTest extends RdmaSizeLimitContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new LimitedTestEnvironment(new RoceTestEnvironment(), function -> true);
    }
}
