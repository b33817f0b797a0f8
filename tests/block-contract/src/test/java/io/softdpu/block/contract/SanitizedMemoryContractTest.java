package io.softdpu.block.contract;

import io.softdpu.junit.SoftDpuTest;

/**
 * The parts of the contract that depend on no order of completions, for blocks in memory under the
 * sanitizer: it delays completions, refuses with AGAIN, and overwrites what a read is to fill.
 */
@SoftDpuTest
class SanitizedMemoryContractTest extends BlockModelContract {
    @Override
    protected BlockTestEnvironment environment() {
        return new MemoryEnvironment();
    }
}
