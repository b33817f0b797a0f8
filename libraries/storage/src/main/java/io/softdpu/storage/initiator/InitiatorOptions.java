package io.softdpu.storage.initiator;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.storage.StorageDefaults;
import io.softdpu.storage.option.OptionChecks;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Options of a storage initiator.
 *
 * @param device the device it works on: PCI address, ibdev name or interface name
 * @param cpus one data path thread each, 1 to 64
 * @param commandChannelName the name of the service's Comch server
 * @param controlTimeoutNanos how long each control operation may take
 * @param transactionCount how many operations each core keeps in flight at most, 1 to 4096
 * @param localIoRegionSizeBytes the memory for the data; 0 means as much as the storage has
 * @param maxMemoryBytes limit on the memory for the data, since it is the service that tells how
 *     much the storage has; 0 means half of what is free when the session knows that size, in the
 *     machine or in the memory cgroup of this process, whichever is less
 */
public record InitiatorOptions(
        String device,
        List<CpuBinding> cpus,
        String commandChannelName,
        long controlTimeoutNanos,
        int transactionCount,
        long localIoRegionSizeBytes,
        long maxMemoryBytes) {

    /** Checks the values: INVALID_VALUE that names the option. */
    public InitiatorOptions {
        cpus = List.copyOf(cpus);
        OptionChecks.requireCpus(cpus);
        OptionChecks.requireTimeout(controlTimeoutNanos);
        OptionChecks.requireRange(
                "transaction_count", transactionCount, 1, StorageDefaults.MAX_TRANSACTION_COUNT);
        OptionChecks.requireRange(
                "local_io_region_size", localIoRegionSizeBytes, 0, Long.MAX_VALUE);
        OptionChecks.requireRange("max_memory", maxMemoryBytes, 0, Long.MAX_VALUE);
    }

    /** A builder with the defaults; device and cpu must be set. */
    public static Builder builder() {
        return new Builder();
    }

    /** Collects the options. */
    public static final class Builder {
        private @Nullable String device;
        private final List<CpuBinding> cpus = new ArrayList<>();
        private String commandChannelName = StorageDefaults.COMMAND_CHANNEL_NAME;
        private long controlTimeoutNanos = StorageDefaults.CONTROL_TIMEOUT_NANOS;
        private int transactionCount = StorageDefaults.TRANSACTION_COUNT;
        private long localIoRegionSizeBytes;
        private long maxMemoryBytes;

        private Builder() {}

        /** Sets the device. */
        public Builder device(String id) {
            device = id;
            return this;
        }

        /** Adds a data path thread. */
        public Builder cpu(CpuBinding cpu) {
            cpus.add(cpu);
            return this;
        }

        /** Sets the name of the service's Comch server. */
        public Builder commandChannelName(String name) {
            commandChannelName = name;
            return this;
        }

        /** Sets the control timeout. */
        public Builder controlTimeoutNanos(long nanos) {
            controlTimeoutNanos = nanos;
            return this;
        }

        /** Sets the transactions of each core. */
        public Builder transactionCount(int count) {
            transactionCount = count;
            return this;
        }

        /** Sets the memory for the data in bytes; 0 means as much as the storage has. */
        public Builder localIoRegionSizeBytes(long bytes) {
            localIoRegionSizeBytes = bytes;
            return this;
        }

        /** Sets the limit on the memory for the data in bytes; 0 means half of what is free. */
        public Builder maxMemoryBytes(long bytes) {
            maxMemoryBytes = bytes;
            return this;
        }

        /**
         * The options.
         *
         * @throws DpuException INVALID_VALUE that names what is missing or illegal
         */
        public InitiatorOptions build() {
            return new InitiatorOptions(
                    OptionChecks.require("device", device),
                    cpus,
                    commandChannelName,
                    controlTimeoutNanos,
                    transactionCount,
                    localIoRegionSizeBytes,
                    maxMemoryBytes);
        }
    }
}
