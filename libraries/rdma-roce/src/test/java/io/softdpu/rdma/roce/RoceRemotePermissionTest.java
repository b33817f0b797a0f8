package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaRemotePermissionContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceRemotePermissionTest extends RdmaRemotePermissionContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
