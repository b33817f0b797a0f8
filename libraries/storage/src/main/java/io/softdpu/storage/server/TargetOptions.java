package io.softdpu.storage.server;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.storage.StorageDefaults;
import io.softdpu.storage.option.OptionChecks;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Options of a storage target.
 *
 * @param device the device it works on: PCI address, ibdev name or interface name
 * @param cpus one data path thread each, 1 to 64
 * @param listenAddress the address that its control channel listens on
 * @param listenPort the port; 0 takes any free one
 * @param controlTimeoutNanos how long each control operation may take
 */
public record TargetOptions(
        String device,
        List<CpuBinding> cpus,
        String listenAddress,
        int listenPort,
        long controlTimeoutNanos) {

    /** Checks the values: INVALID_VALUE that names the option. */
    public TargetOptions {
        cpus = List.copyOf(cpus);
        OptionChecks.requireCpus(cpus);
        OptionChecks.requireRange("listen_port", listenPort, 0, 0xFFFF);
        OptionChecks.requireTimeout(controlTimeoutNanos);
    }

    /** A builder with the defaults; device and cpu must be set. */
    public static Builder builder() {
        return new Builder();
    }

    /** Collects the options. */
    public static final class Builder {
        private @Nullable String device;
        private final List<CpuBinding> cpus = new ArrayList<>();
        private String listenAddress = StorageDefaults.LISTEN_ADDRESS;
        private int listenPort;
        private long controlTimeoutNanos = StorageDefaults.CONTROL_TIMEOUT_NANOS;

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

        /** Sets the address to listen on; this machine alone where it is not set. */
        public Builder listenAddress(String address) {
            listenAddress = address;
            return this;
        }

        /** Sets the port to listen on; any free one where it is not set. */
        public Builder listenPort(int port) {
            listenPort = port;
            return this;
        }

        /** Sets the control timeout. */
        public Builder controlTimeoutNanos(long nanos) {
            controlTimeoutNanos = nanos;
            return this;
        }

        /**
         * The options.
         *
         * @throws DpuException INVALID_VALUE that names what is missing or illegal
         */
        public TargetOptions build() {
            return new TargetOptions(
                    OptionChecks.require("device", device),
                    cpus,
                    listenAddress,
                    listenPort,
                    controlTimeoutNanos);
        }
    }
}
