package io.softdpu.perf.card;

import io.softdpu.core.DpuException;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCapabilities;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * RDMA provider that the user of a command chooses by {@code --provider}, and what its network is
 * to do.
 *
 * @param name of the provider; {@link Rdma#ANY_PROVIDER} for none in particular
 * @param impairment of packets, as {@code --impair} has it; null for none
 * @param capture file for all packets of one of the processes; null for none
 */
public record ProviderChoice(String name, @Nullable String impairment, @Nullable Path capture) {
    /** No provider in particular: an instance chooses as the library says. */
    public static final ProviderChoice AUTO = new ProviderChoice(Rdma.ANY_PROVIDER);

    private static final String VARIABLE = "SOFTDPU_RDMA_PROVIDER";

    /** A provider whose packets are left as they are. */
    public ProviderChoice(String name) {
        this(name, null, null);
    }

    /** The same with another impairment and capture. */
    public ProviderChoice with(@Nullable String otherImpairment, @Nullable Path otherCapture) {
        return new ProviderChoice(name, otherImpairment, otherCapture);
    }

    /** Whether the user named no provider. */
    public boolean isAuto() {
        return name.equals(Rdma.ANY_PROVIDER);
    }

    /** Whether this provider alone is chosen, by the option or else by the environment. */
    public boolean isOnly(String provider) {
        return provider.equals(isAuto() ? System.getenv(VARIABLE) : name);
    }

    /**
     * The options of a command with this choice.
     *
     * @param captures whether its process is the one with the capture
     */
    public List<String> arguments(boolean captures) {
        List<String> arguments = new ArrayList<>(List.of("--provider", name));
        if (impairment != null) {
            arguments.addAll(List.of("--impair", impairment));
        }
        if (captures && capture != null) {
            arguments.addAll(List.of("--pcap", capture.toAbsolutePath().toString()));
        }
        return arguments;
    }

    /**
     * Checks that the provider serves a device.
     *
     * @throws DpuException NOT_FOUND, naming the option and the providers that serve it
     */
    public void require(DeviceInfo device) {
        RdmaCapabilities.requireProvider(device, name, "option=--provider");
    }

    /**
     * Sets the provider of an instance, unless it is none in particular.
     *
     * @throws DpuException NOT_FOUND, as {@link #require}
     */
    public void set(Rdma rdma, DeviceInfo device) {
        require(device);
        if (!isAuto()) {
            rdma.setProvider(name);
        }
    }
}
