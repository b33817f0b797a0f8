package io.softdpu.block.contract;

/** The contract of block devices for a device without blocks. */
class NullContractTest extends BlockDeviceContract {
    @Override
    protected BlockTestEnvironment environment() {
        return new NullEnvironment();
    }
}
