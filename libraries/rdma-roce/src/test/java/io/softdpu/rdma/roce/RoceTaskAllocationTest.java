package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaAllocationContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import io.softdpu.testkit.Soak;
import org.junit.jupiter.api.Tag;

/** Of the engine's thread; many rounds, each over the network. */
@Tag(Soak.FULL_TAG)
class RoceTaskAllocationTest extends RdmaAllocationContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}
