package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaPermissionTableContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class ShmPermissionTableTest extends RdmaPermissionTableContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }
}
