package io.softdpu.storage.workload;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Settings of an execution strategy.
 *
 * @param runLimitOperationCount operations of each core in a throughput test
 * @param transactionCount how many each core keeps in flight
 * @param blocksPerIo blocks that one operation moves
 * @param plainContent the file that the storage is expected to hold, or null; needed by the
 *     read-only validity test
 */
public record StrategySettings(
        long runLimitOperationCount,
        int transactionCount,
        int blocksPerIo,
        @Nullable Path plainContent) {}
