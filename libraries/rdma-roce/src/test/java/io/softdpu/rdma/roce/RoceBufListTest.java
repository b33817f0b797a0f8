package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaBufListContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceBufListTest extends RdmaBufListContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
