package io.softdpu.block.contract;

/** The contract of block devices for blocks below a volatile cache. */
class VolatileCacheContractTest extends BlockDeviceContract {
    @Override
    protected BlockTestEnvironment environment() {
        return new FaultEnvironment("seed=1,volatile-cache");
    }
}
