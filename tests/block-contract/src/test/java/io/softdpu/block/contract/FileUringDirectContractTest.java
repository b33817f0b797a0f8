package io.softdpu.block.contract;

/** The contract of block devices for file volumes by io_uring without the page cache. */
class FileUringDirectContractTest extends BlockDeviceContract {
    @Override
    protected BlockTestEnvironment environment() {
        return new FileEnvironment("&direct", "io_uring");
    }
}
