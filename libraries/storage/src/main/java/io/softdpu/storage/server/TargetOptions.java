package io.softdpu.storage.server;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.rdma.Rdma;
import io.softdpu.storage.StorageDefaults;
import io.softdpu.storage.WaitMode;
import io.softdpu.storage.option.OptionChecks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Options of a storage target.
 *
 * @param device the device: PCI address, ibdev name or interface name
 * @param cpus CPU binding of each data path thread, 1 to 64
 * @param waitMode what the data path threads do while there is no work
 * @param listenAddress the address that its control channel listens on
 * @param listenPort the port; 0 for any free one
 * @param controlTimeout timeout of each control operation
 * @param provider name of the only RDMA provider to use; {@link Rdma#ANY_PROVIDER} for none in
 *     particular
 * @param stagingBytes size of the memory of each data path thread through which the bytes of a
 *     volume go that is not memory of this process: at least a piece of a request, which is 1 MiB,
 *     or the largest request of the volume if that is less
 */
public record TargetOptions(
        String device,
        List<CpuBinding> cpus,
        WaitMode waitMode,
        String listenAddress,
        int listenPort,
        Duration controlTimeout,
        String provider,
        long stagingBytes) {

    /** Checks the values; throws INVALID_VALUE, naming the option. */
    public TargetOptions {
        cpus = List.copyOf(cpus);
        OptionChecks.requireCpus(cpus);
        OptionChecks.requireRange("listenPort", listenPort, 0, 0xFFFF);
        OptionChecks.requireTimeout(controlTimeout);
        OptionChecks.require("provider", provider);
        OptionChecks.requireRange("stagingBytes", stagingBytes, 1, Long.MAX_VALUE);
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
        private String listenAddress = StorageDefaults.LISTEN_ADDRESS;
        private int listenPort;
        private Duration controlTimeout = StorageDefaults.CONTROL_TIMEOUT;
        private String provider = Rdma.ANY_PROVIDER;
        private long stagingBytes = StorageDefaults.STAGING_BYTES;

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

        /** Sets the address to listen on; the loopback address by default. */
        public Builder listenAddress(String address) {
            listenAddress = address;
            return this;
        }

        /** Sets the port to listen on; any free one by default. */
        public Builder listenPort(int port) {
            listenPort = port;
            return this;
        }

        /** Sets the control timeout. */
        public Builder controlTimeout(Duration timeout) {
            controlTimeout = timeout;
            return this;
        }

        /**
         * Sets the only RDMA provider to use, as {@link Rdma#setProvider}; without it the choice is
         * that of an instance without a provider.
         */
        public Builder provider(String name) {
            provider = name;
            return this;
        }

        /** Sets the size of the memory for staging of each data path thread; 16 MiB by default. */
        public Builder stagingBytes(long bytes) {
            stagingBytes = bytes;
            return this;
        }

        /**
         * Builds the options.
         *
         * @throws DpuException INVALID_VALUE, naming the missing or illegal option
         */
        public TargetOptions build() {
            return new TargetOptions(
                    OptionChecks.require("device", device),
                    cpus,
                    waitMode,
                    listenAddress,
                    listenPort,
                    controlTimeout,
                    provider,
                    stagingBytes);
        }
    }
}
