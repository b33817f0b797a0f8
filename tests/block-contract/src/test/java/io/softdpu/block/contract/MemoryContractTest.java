package io.softdpu.block.contract;

/** The contract of block devices for blocks in memory. */
class MemoryContractTest extends BlockDeviceContract {
    @Override
    protected BlockTestEnvironment environment() {
        return new MemoryEnvironment();
    }
}
