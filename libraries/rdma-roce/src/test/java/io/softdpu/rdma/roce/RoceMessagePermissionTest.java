package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaMessagePermissionContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceMessagePermissionTest extends RdmaMessagePermissionContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
