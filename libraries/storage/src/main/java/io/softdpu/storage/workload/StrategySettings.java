package io.softdpu.storage.workload;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Settings of an execution strategy.
 *
 * @param runLimitOperationCount operations per worker in a throughput test
 * @param transactionCount number of operations in flight per worker
 * @param blocksPerIo blocks per operation
 * @param plainContent file with the expected content of the storage, or null; required by the
 *     read-only validity test
 */
public record StrategySettings(
        long runLimitOperationCount,
        int transactionCount,
        int blocksPerIo,
        @Nullable Path plainContent) {}
