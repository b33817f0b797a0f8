package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaTaskRulesContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceTaskRulesTest extends RdmaTaskRulesContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
