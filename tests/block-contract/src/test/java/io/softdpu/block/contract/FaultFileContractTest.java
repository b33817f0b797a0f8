package io.softdpu.block.contract;

import io.softdpu.testkit.Soak;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The contract of block devices for a fault device without faults over a file volume. */
@Tag(Soak.FULL_TAG)
class FaultFileContractTest {
    private static final BlockTestEnvironment ENVIRONMENT =
            new FileEnvironment("fault:seed=1:", "", "io_uring");

    @Nested
    class Life extends BlockDeviceContract {
        @Override
        protected BlockTestEnvironment environment() {
            return ENVIRONMENT;
        }
    }

    @Nested
    class ReadsAndWrites extends BlockReadWriteContract {
        @Override
        protected BlockTestEnvironment environment() {
            return ENVIRONMENT;
        }
    }

    @Nested
    class Refusals extends BlockRefusalContract {
        @Override
        protected BlockTestEnvironment environment() {
            return ENVIRONMENT;
        }
    }

    @Nested
    class Model extends BlockModelContract {
        @Override
        protected BlockTestEnvironment environment() {
            return ENVIRONMENT;
        }
    }

    @Nested
    class DataPath extends BlockDataPathContract {
        @Override
        protected BlockTestEnvironment environment() {
            return ENVIRONMENT;
        }
    }

    @Nested
    class Stops extends BlockStopContract {
        @Override
        protected BlockTestEnvironment environment() {
            return ENVIRONMENT;
        }
    }
}
