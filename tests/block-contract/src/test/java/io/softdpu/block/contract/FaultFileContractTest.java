package io.softdpu.block.contract;

import io.softdpu.testkit.Soak;
import org.junit.jupiter.api.Tag;

/** The contract of block devices for a fault device without faults over a file volume. */
@Tag(Soak.FULL_TAG)
class FaultFileContractTest extends BlockDeviceContract {
    @Override
    protected BlockTestEnvironment environment() {
        return new FileEnvironment("fault:seed=1:", "", "io_uring");
    }
}
