package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.rdma.contract.RdmaLeakContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import io.softdpu.rdma.roce.nic.NicFailures;

class RoceLeakTest extends RdmaLeakContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }

    @Override
    protected void assertNoHiddenFailures() {
        assertThat(NicFailures.ofRunning()).as("exceptions on the NICs' threads").isZero();
    }
}
