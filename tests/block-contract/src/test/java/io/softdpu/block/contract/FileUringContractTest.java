package io.softdpu.block.contract;

import io.softdpu.testkit.Soak;
import org.junit.jupiter.api.Tag;

/** The contract of block devices for file volumes by io_uring in the page cache. */
@Tag(Soak.FULL_TAG)
class FileUringContractTest extends BlockDeviceContract {
    @Override
    protected BlockTestEnvironment environment() {
        return new FileEnvironment("", "io_uring");
    }
}
