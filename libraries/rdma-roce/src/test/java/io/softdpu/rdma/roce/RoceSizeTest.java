package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaSizeContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceSizeTest extends RdmaSizeContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
