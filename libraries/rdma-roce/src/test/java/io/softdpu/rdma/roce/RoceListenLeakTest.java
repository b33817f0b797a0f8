package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaListenLeakContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceListenLeakTest extends RdmaListenLeakContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
