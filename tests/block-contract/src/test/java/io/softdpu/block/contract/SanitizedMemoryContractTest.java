package io.softdpu.block.contract;

import io.softdpu.junit.SoftDpuTest;
import org.junit.jupiter.api.Nested;

/**
 * The parts of the contract that depend on no order of completions, for blocks in memory under the
 * sanitizer: it delays completions, refuses with AGAIN, and overwrites what a read is to fill.
 */
class SanitizedMemoryContractTest {
    private static final BlockTestEnvironment ENVIRONMENT = new MemoryEnvironment();

    @Nested
    @SoftDpuTest
    class ReadsAndWrites extends BlockReadWriteContract {
        @Override
        protected BlockTestEnvironment environment() {
            return ENVIRONMENT;
        }
    }

    @Nested
    @SoftDpuTest
    class Model extends BlockModelContract {
        @Override
        protected BlockTestEnvironment environment() {
            return ENVIRONMENT;
        }
    }
}
