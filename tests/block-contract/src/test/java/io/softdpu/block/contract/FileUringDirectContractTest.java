package io.softdpu.block.contract;

import org.junit.jupiter.api.Nested;

/** The contract of block devices for file volumes by io_uring without the page cache. */
class FileUringDirectContractTest {
    private static final BlockTestEnvironment ENVIRONMENT =
            new FileEnvironment("&direct", "io_uring");

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
