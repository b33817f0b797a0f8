package io.softdpu.perf.card;

import io.softdpu.core.DpuException;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCapabilities;

/**
 * RDMA provider that the user of a command chooses by {@code --provider}.
 *
 * @param name of the provider; {@link Rdma#ANY_PROVIDER} for none in particular
 */
public record ProviderChoice(String name) {
    /** No provider in particular: an instance chooses as the library says. */
    public static final ProviderChoice AUTO = new ProviderChoice(Rdma.ANY_PROVIDER);

    /** Whether the user named no provider. */
    public boolean isAuto() {
        return name.equals(Rdma.ANY_PROVIDER);
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
