package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaSendReceiveContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;

class RoceParametersSendReceiveTest extends RdmaSendReceiveContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceParametersTestEnvironment();
    }
}
