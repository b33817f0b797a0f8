package io.softdpu.block.contract;

/** The contract of block devices for a copy of a file. */
class CopyContractTest extends BlockDeviceContract {
    @Override
    protected BlockTestEnvironment environment() {
        return new CopyEnvironment();
    }
}
