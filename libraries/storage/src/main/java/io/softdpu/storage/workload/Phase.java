package io.softdpu.storage.workload;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.StorageDefaults;
import io.softdpu.storage.option.OptionChecks;
import io.softdpu.storage.wire.IoType;
import org.jspecify.annotations.Nullable;

/**
 * A part of a workload: operations of one kind and size, for as long as its limit says. Between two
 * phases nothing is in flight.
 *
 * @param name for reports
 * @param type read or write
 * @param ioSize bytes of an operation
 * @param transactions how many each core keeps in flight; no more than it has
 * @param source makes each core's source of requests
 * @param operations operations of each core after which the phase ends; {@link Long#MAX_VALUE}: any
 *     number
 * @param paceNanos time from one turn of a transaction to its next. An operation begins at a turn,
 *     or as soon as the one before has ended; whole turns that pass meanwhile are left out, and
 *     latency counts from the beginning and not from the turn. 0: there are no turns, the next
 *     begins as soon as the one before has ended
 * @param nanos time after which it ends; {@link Long#MAX_VALUE}: any time
 * @param mirrored whether the data of the storage's byte i stands at byte i of the initiator's
 *     memory; else each transaction has a buffer of its own
 * @param fill what the whole memory is filled with before the phase, or null to leave it
 * @param expect what the whole memory must hold after it, or null; needs {@code mirrored}
 * @param endOnError whether the first failed operation ends the phase
 */
public record Phase(
        String name,
        IoType type,
        IoSize ioSize,
        int transactions,
        RequestSourceFactory source,
        long operations,
        long paceNanos,
        long nanos,
        boolean mirrored,
        @Nullable Content fill,
        @Nullable Content expect,
        boolean endOnError) {

    /** A day; a sum of it and a moment stays a moment. */
    private static final long LONGEST_PACE_NANOS = 86_400_000_000_000L;

    /** Checks the values: INVALID_VALUE that names the field. */
    public Phase {
        OptionChecks.requireRange(
                "transactions", transactions, 1, StorageDefaults.MAX_TRANSACTION_COUNT);
        OptionChecks.requireRange("operations", operations, 1, Long.MAX_VALUE);
        OptionChecks.requireRange("pace_nanos", paceNanos, 0, LONGEST_PACE_NANOS);
        OptionChecks.requireRange("nanos", nanos, 1, Long.MAX_VALUE);
        OptionChecks.requireRange("type (1 read, 2 write)", type.code(), 1, 2);
        if (expect != null && !mirrored) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "phase cannot expect a content: name="
                            + name
                            + ", mirrored=false, expected=mirrored");
        }
    }

    /** A builder of a phase that reads: sequential, once over the volume, 1 transaction. */
    public static Builder read(String name) {
        return new Builder(name, IoType.READ);
    }

    /** A builder of a phase that writes: sequential, once over the volume, 1 transaction. */
    public static Builder write(String name) {
        return new Builder(name, IoType.WRITE);
    }

    /** Collects the values of a phase. */
    public static final class Builder {
        private final String name;
        private final IoType type;
        private IoSize ioSize = IoSize.blocks(StorageDefaults.BLOCKS_PER_IO);
        private int transactions = 1;
        private @Nullable RequestSourceFactory source;
        private boolean once = true;
        private long operations = Long.MAX_VALUE;
        private long paceNanos;
        private long nanos = Long.MAX_VALUE;
        private boolean perTransaction;
        private @Nullable Content fill;
        private @Nullable Content expect;
        private boolean endOnError = true;

        private Builder(String name, IoType type) {
            this.name = name;
            this.type = type;
        }

        /** Sets the size of an operation; one block where it is not set. */
        public Builder ioSize(IoSize size) {
            ioSize = size;
            return this;
        }

        /** Sets how many operations each core keeps in flight. */
        public Builder transactions(int count) {
            transactions = count;
            return this;
        }

        /** One operation after the other, the default. */
        public Builder sequential() {
            source = null;
            return this;
        }

        /** Any place in any order, the same for the same seed. */
        public Builder random(long seed) {
            source = range -> RequestSources.random(range, seed);
            return this;
        }

        /** Requests of the caller's own making. */
        public Builder source(RequestSourceFactory factory) {
            source = factory;
            return this;
        }

        /** Ends when each block of the volume had its turn, or the source has no more. */
        public Builder onceOverVolume() {
            once = true;
            operations = Long.MAX_VALUE;
            nanos = Long.MAX_VALUE;
            return this;
        }

        /** Ends after that many operations of each core. */
        public Builder operations(long perWorker) {
            once = false;
            operations = perWorker;
            return this;
        }

        /** Ends after that time. */
        public Builder nanos(long limit) {
            once = false;
            nanos = limit;
            return this;
        }

        /** A transaction begins an operation that often, and rests in between: paceNanos. */
        public Builder pace(long nanosPerOperation) {
            paceNanos = nanosPerOperation;
            return this;
        }

        /** One buffer per transaction, once over the volume, too; else the memory mirrors that. */
        public Builder perTransaction() {
            perTransaction = true;
            return this;
        }

        /** Fills the memory before the phase. */
        public Builder fill(Content content) {
            fill = content;
            return this;
        }

        /** Compares the memory with this after the phase. */
        public Builder expect(Content content) {
            expect = content;
            return this;
        }

        /** Failed operations are counted, and the phase goes on. */
        public Builder continueOnError() {
            endOnError = false;
            return this;
        }

        /**
         * The phase.
         *
         * @throws DpuException INVALID_VALUE that names the field
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
                    paceNanos,
                    nanos,
                    once && !perTransaction,
                    fill,
                    expect,
                    endOnError);
        }
    }
}
