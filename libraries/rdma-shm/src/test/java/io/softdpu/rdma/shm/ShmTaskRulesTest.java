package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaTaskRulesContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmTaskRulesTest extends RdmaTaskRulesContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
