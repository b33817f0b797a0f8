package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaBoundsContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceBoundsTest extends RdmaBoundsContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
