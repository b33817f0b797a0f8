package io.softdpu.block.contract;

/** The contract of block devices for a fault device without faults. */
class FaultContractTest extends BlockDeviceContract {
    @Override
    protected BlockTestEnvironment environment() {
        return new FaultEnvironment("seed=1");
    }
}
