package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaPermissionTableContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RocePermissionTableTest extends RdmaPermissionTableContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
