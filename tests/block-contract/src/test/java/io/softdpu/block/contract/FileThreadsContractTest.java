package io.softdpu.block.contract;

/** The contract of block devices for file volumes by threads in the page cache. */
class FileThreadsContractTest extends BlockDeviceContract {
    @Override
    protected BlockTestEnvironment environment() {
        return new FileEnvironment("&threads=3", "threads");
    }
}
