package io.softdpu.storage.workload;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.storage.StorageDefaults;
import io.softdpu.storage.option.OptionChecks;
import io.softdpu.storage.wire.IoType;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Phase of a workload: operations of one type and size, up to a limit. Between two phases nothing
 * is in flight.
 *
 * @param name for reports
 * @param type read or write
 * @param ioSize size of an operation
 * @param transactions number of operations in flight per worker, at most the worker's transactions
 * @param source creates the source of requests of each worker
 * @param operations operations per worker after which the phase ends; {@link Long#MAX_VALUE} for no
 *     limit
 * @param pace interval between the due times of a transaction's operations. An operation begins at
 *     its due time, or as soon as the previous one has ended; due times that pass meanwhile are
 *     skipped, and latency is measured from the actual begin. Zero for no pacing: an operation
 *     begins as soon as the previous one has ended
 * @param timeLimit time after which it ends; {@link Deadline#NO_LIMIT} for never
 * @param mirrored whether byte i of the storage corresponds to byte i of the initiator's memory;
 *     else each transaction has a buffer of its own
 * @param fill content that the whole memory is filled with before the phase; null to leave it
 *     unchanged
 * @param expect expected content of the memory after the phase, or null; requires {@code mirrored}
 * @param endOnError whether the first failed operation ends the phase
 */
public record Phase(
        String name,
        IoType type,
        IoSize ioSize,
        int transactions,
        RequestSourceFactory source,
        long operations,
        Duration pace,
        Duration timeLimit,
        boolean mirrored,
        @Nullable Content fill,
        @Nullable Content expect,
        boolean endOnError) {

    /** One day, so that adding it to a time cannot overflow. */
    private static final long LONGEST_PACE_NANOS = 86_400_000_000_000L;

    /** Checks the values; throws INVALID_VALUE, naming the field. */
    public Phase {
        OptionChecks.requireRange(
                "transactions", transactions, 1, StorageDefaults.MAX_TRANSACTION_COUNT);
        OptionChecks.requireRange("operations", operations, 1, Long.MAX_VALUE);
        OptionChecks.requireRange("paceNanos", OptionChecks.nanos(pace), 0, LONGEST_PACE_NANOS);
        OptionChecks.requireRange(
                "timeLimitNanos", OptionChecks.nanos(timeLimit), 1, Long.MAX_VALUE);
        OptionChecks.requireRange("type", type.code(), 1, 2);
        if (expect != null && !mirrored) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "phase cannot expect a content: name="
                            + name
                            + ", mirrored=false, expected=mirrored");
        }
    }

    /** Creates a builder of a phase that reads: sequential, once over the volume, 1 transaction. */
    public static Builder read(String name) {
        return new Builder(name, IoType.READ);
    }

    /**
     * Creates a builder of a phase that writes: sequential, once over the volume, 1 transaction.
     */
    public static Builder write(String name) {
        return new Builder(name, IoType.WRITE);
    }

    /** Builder of a phase. */
    public static final class Builder {
        private final String name;
        private final IoType type;
        private IoSize ioSize = IoSize.blocks(StorageDefaults.BLOCKS_PER_IO);
        private int transactions = 1;
        private @Nullable RequestSourceFactory source;
        private boolean once = true;
        private long operations = Long.MAX_VALUE;
        private Duration pace = Duration.ZERO;
        private Duration timeLimit = Deadline.NO_LIMIT;
        private boolean perTransaction;
        private @Nullable Content fill;
        private @Nullable Content expect;
        private boolean endOnError = true;

        private Builder(String name, IoType type) {
            this.name = name;
            this.type = type;
        }

        /** Sets the size of an operation; one block by default. */
        public Builder ioSize(IoSize size) {
            ioSize = size;
            return this;
        }

        /** Sets the number of operations in flight per worker. */
        public Builder transactions(int count) {
            transactions = count;
            return this;
        }

        /** Sets sequential offsets, the default. */
        public Builder sequential() {
            source = null;
            return this;
        }

        /** Sets random offsets, the same for the same seed. */
        public Builder random(long seed) {
            source = range -> RequestSources.random(range, seed);
            return this;
        }

        /** Sets a source of requests. */
        public Builder source(RequestSourceFactory factory) {
            source = factory;
            return this;
        }

        /**
         * Ends the phase when all blocks of the volume were used, or the source has no more
         * requests.
         */
        public Builder onceOverVolume() {
            once = true;
            operations = Long.MAX_VALUE;
            timeLimit = Deadline.NO_LIMIT;
            return this;
        }

        /** Ends the phase after this number of operations per worker. */
        public Builder operations(long perWorker) {
            once = false;
            operations = perWorker;
            return this;
        }

        /** Ends the phase after this time. */
        public Builder timeLimit(Duration limit) {
            once = false;
            timeLimit = limit;
            return this;
        }

        /** Sets the interval between the operations of a transaction; see {@link Phase#pace}. */
        public Builder pace(Duration perOperation) {
            pace = perOperation;
            return this;
        }

        /**
         * Uses one buffer per transaction also once over the volume, which is mirrored otherwise.
         */
        public Builder perTransaction() {
            perTransaction = true;
            return this;
        }

        /** Fills the memory before the phase. */
        public Builder fill(Content content) {
            fill = content;
            return this;
        }

        /** Compares the memory with a content after the phase. */
        public Builder expect(Content content) {
            expect = content;
            return this;
        }

        /** Counts failed operations without ending the phase. */
        public Builder continueOnError() {
            endOnError = false;
            return this;
        }

        /**
         * Builds the phase.
         *
         * @throws DpuException INVALID_VALUE, naming the field
         */
        public Phase build() {
            RequestSourceFactory sequential = once ? RequestSources::once : RequestSources::endless;
            return new Phase(
                    name,
                    type,
                    ioSize,
                    transactions,
                    source == null ? sequential : source,
                    operations,
                    pace,
                    timeLimit,
                    once && !perTransaction,
                    fill,
                    expect,
                    endOnError);
        }
    }
}
