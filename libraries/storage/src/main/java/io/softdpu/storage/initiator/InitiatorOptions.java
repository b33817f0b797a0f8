package io.softdpu.storage.initiator;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.storage.StorageDefaults;
import io.softdpu.storage.WaitMode;
import io.softdpu.storage.option.OptionChecks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Options of a storage initiator.
 *
 * @param device the device: PCI address, ibdev name or interface name
 * @param cpus CPU binding of each data path thread, 1 to 64
 * @param waitMode what the data path threads do while there is no work
 * @param commandChannelName the name of the service's Comch server
 * @param controlTimeout timeout of each control operation
 * @param transactionCount largest number of operations in flight per worker, 1 to 4096
 * @param localIoRegionSizeBytes size of the memory for the data; 0 for the size of the storage
 * @param maxMemoryBytes limit of the memory for the data, since the size of the storage comes from
 *     the service; 0 for half of the free memory at that time, of the machine or of the memory
 *     cgroup of this process, whichever is less
 */
public record InitiatorOptions(
        String device,
        List<CpuBinding> cpus,
        WaitMode waitMode,
        String commandChannelName,
        Duration controlTimeout,
        int transactionCount,
        long localIoRegionSizeBytes,
        long maxMemoryBytes) {

    /** Checks the values; throws INVALID_VALUE, naming the option. */
    public InitiatorOptions {
        cpus = List.copyOf(cpus);
        OptionChecks.requireCpus(cpus);
        OptionChecks.requireTimeout(controlTimeout);
        OptionChecks.requireRange(
                "transactionCount", transactionCount, 1, StorageDefaults.MAX_TRANSACTION_COUNT);
        OptionChecks.requireRange(
                "localIoRegionSizeBytes", localIoRegionSizeBytes, 0, Long.MAX_VALUE);
        OptionChecks.requireRange("maxMemoryBytes", maxMemoryBytes, 0, Long.MAX_VALUE);
    }

    /** Creates a builder with the defaults; device and cpu must be set. */
    public static Builder builder() {
        return new Builder();
    }

    /** Builder of the options. */
    public static final class Builder {
        private @Nullable String device;
        private final List<CpuBinding> cpus = new ArrayList<>();
        private WaitMode waitMode = WaitMode.ADAPTIVE;
        private String commandChannelName = StorageDefaults.COMMAND_CHANNEL_NAME;
        private Duration controlTimeout = StorageDefaults.CONTROL_TIMEOUT;
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

        /** Adds a data path thread for each of these, in their order. */
        public Builder cpus(List<CpuBinding> more) {
            cpus.addAll(more);
            return this;
        }

        /** Sets what the data path threads do while there is no work; adaptive by default. */
        public Builder waitMode(WaitMode mode) {
            waitMode = mode;
            return this;
        }

        /** Sets the name of the service's Comch server. */
        public Builder commandChannelName(String name) {
            commandChannelName = name;
            return this;
        }

        /** Sets the control timeout. */
        public Builder controlTimeout(Duration timeout) {
            controlTimeout = timeout;
            return this;
        }

        /** Sets the largest number of transactions in flight per worker. */
        public Builder transactionCount(int count) {
            transactionCount = count;
            return this;
        }

        /** Sets the size of the memory for the data in bytes; 0 for the size of the storage. */
        public Builder localIoRegionSizeBytes(long bytes) {
            localIoRegionSizeBytes = bytes;
            return this;
        }

        /** Sets the limit of the memory for the data in bytes; 0 for half of the free memory. */
        public Builder maxMemoryBytes(long bytes) {
            maxMemoryBytes = bytes;
            return this;
        }

        /**
         * Builds the options.
         *
         * @throws DpuException INVALID_VALUE, naming the missing or illegal option
         */
        public InitiatorOptions build() {
            return new InitiatorOptions(
                    OptionChecks.require("device", device),
                    cpus,
                    waitMode,
                    commandChannelName,
                    controlTimeout,
                    transactionCount,
                    localIoRegionSizeBytes,
                    maxMemoryBytes);
        }
    }
}
