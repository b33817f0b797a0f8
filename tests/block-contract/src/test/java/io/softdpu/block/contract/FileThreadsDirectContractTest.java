package io.softdpu.block.contract;

import io.softdpu.testkit.Soak;
import org.junit.jupiter.api.Tag;

/** The contract of block devices for file volumes by threads without the page cache. */
@Tag(Soak.FULL_TAG)
class FileThreadsDirectContractTest extends BlockDeviceContract {
    @Override
    protected BlockTestEnvironment environment() {
        return new FileEnvironment("&threads=3&direct", "threads");
    }
}
