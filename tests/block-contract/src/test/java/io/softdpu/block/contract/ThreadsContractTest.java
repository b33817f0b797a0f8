package io.softdpu.block.contract;

/** The contract of block devices for a device whose requests end on other threads. */
class ThreadsContractTest extends BlockDeviceContract {
    @Override
    protected BlockTestEnvironment environment() {
        return new ThreadsEnvironment();
    }
}
