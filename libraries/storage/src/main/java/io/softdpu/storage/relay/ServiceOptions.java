package io.softdpu.storage.relay;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.Rdma;
import io.softdpu.storage.StorageDefaults;
import io.softdpu.storage.WaitMode;
import io.softdpu.storage.option.OptionChecks;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Options of a zero-copy service.
 *
 * @param device the device: PCI address, ibdev name or interface name
 * @param representor the PCI address of the host function of the initiator
 * @param cpus CPU binding of each data path thread, 1 to 64
 * @param waitMode what the data path threads do while there is no work
 * @param storageServer address of the target's control channel
 * @param commandChannelName the name of the service's Comch server
 * @param controlTimeout timeout of each control operation
 * @param provider name of the only RDMA provider to use; {@link Rdma#ANY_PROVIDER} for none in
 *     particular
 */
public record ServiceOptions(
        String device,
        String representor,
        List<CpuBinding> cpus,
        WaitMode waitMode,
        InetSocketAddress storageServer,
        String commandChannelName,
        Duration controlTimeout,
        String provider) {

    /** Checks the values; throws INVALID_VALUE, naming the option. */
    public ServiceOptions {
        cpus = List.copyOf(cpus);
        OptionChecks.requireCpus(cpus);
        OptionChecks.requireTimeout(controlTimeout);
        OptionChecks.require("provider", provider);
    }

    /**
     * Creates a builder with the defaults; device, representor, cpu and storage server must be set.
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Parses {@code ip:port}; an IPv6 address has to be in brackets.
     *
     * @throws DpuException INVALID_VALUE, showing the text and the expected format
     */
    public static InetSocketAddress parseStorageServer(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.indexOf(':') >= 0) {
            host = "";
        }
        try {
            int port = Text.parseInt(text.substring(colon + 1));
            if (!host.isEmpty() && port > 0 && port <= 0xFFFF) {
                return new InetSocketAddress(host, port);
            }
        } catch (NumberFormatException e) {
            throw illegalServer(text, e);
        }
        throw illegalServer(text, null);
    }

    private static DpuException illegalServer(String text, @Nullable Throwable cause) {
        return new DpuException(
                Status.INVALID_VALUE,
                "storage server is illegal: storageServer="
                        + text
                        + ", expected=<ip_addr>:<port> with a port from 1 to 65535",
                cause);
    }

    /** Builder of the options. */
    public static final class Builder {
        private @Nullable String device;
        private @Nullable String representor;
        private final List<CpuBinding> cpus = new ArrayList<>();
        private WaitMode waitMode = WaitMode.ADAPTIVE;
        private @Nullable InetSocketAddress storageServer;
        private String commandChannelName = StorageDefaults.COMMAND_CHANNEL_NAME;
        private Duration controlTimeout = StorageDefaults.CONTROL_TIMEOUT;
        private String provider = Rdma.ANY_PROVIDER;

        private Builder() {}

        /** Sets the device. */
        public Builder device(String id) {
            device = id;
            return this;
        }

        /** Sets the representor. */
        public Builder representor(String id) {
            representor = id;
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

        /** Sets the target's address. */
        public Builder storageServer(InetSocketAddress address) {
            storageServer = address;
            return this;
        }

        /** Sets the name of the Comch server. */
        public Builder commandChannelName(String name) {
            commandChannelName = name;
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

        /**
         * Builds the options.
         *
         * @throws DpuException INVALID_VALUE, naming the missing or illegal option
         */
        public ServiceOptions build() {
            return new ServiceOptions(
                    OptionChecks.require("device", device),
                    OptionChecks.require("representor", representor),
                    cpus,
                    waitMode,
                    OptionChecks.require("storageServer", storageServer),
                    commandChannelName,
                    controlTimeout,
                    provider);
        }
    }
}
