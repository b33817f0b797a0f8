package io.softdpu.storage.workload;

import io.softdpu.storage.StorageDefaults;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What an execution strategy is told.
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
        @Nullable Path plainContent) {

    /** The defaults of the guide's application, without a plain content. */
    public static StrategySettings defaults() {
        return new StrategySettings(
                StorageDefaults.RUN_LIMIT_OPERATION_COUNT,
                StorageDefaults.TRANSACTION_COUNT,
                StorageDefaults.BLOCKS_PER_IO,
                null);
    }
}
