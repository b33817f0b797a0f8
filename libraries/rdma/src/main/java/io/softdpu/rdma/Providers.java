package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.spi.RdmaProvider;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;

/** Providers found by ServiceLoader, smallest id first; loaded once. Any thread. */
final class Providers {
    private static final List<RdmaProvider> ALL = load();

    private Providers() {}

    /** The providers that support a device; may be empty. */
    static List<RdmaProvider> supporting(DeviceInfo device) {
        List<RdmaProvider> supporting = new ArrayList<>();
        for (RdmaProvider provider : ALL) {
            if (provider.supports(device)) {
                supporting.add(provider);
            }
        }
        return supporting;
    }

    /**
     * The providers that support a device; at least one.
     *
     * @throws DpuException NOT_SUPPORTED if there is none, naming the loaded ones
     */
    static List<RdmaProvider> require(DeviceInfo device) {
        List<RdmaProvider> supporting = supporting(device);
        if (supporting.isEmpty()) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "no RDMA provider serves the device: device=%s, providers=%s,"
                                    + " expected=%s",
                            device.pciAddress(),
                            names(ALL),
                            ALL.isEmpty()
                                    ? "the artefact io.softdpu:softdpu-rdma-shm at run time"
                                    : "a device that one of them supports"));
        }
        return supporting;
    }

    static List<String> names(List<RdmaProvider> providers) {
        return providers.stream().map(RdmaProvider::name).toList();
    }

    private static List<RdmaProvider> load() {
        List<RdmaProvider> found = new ArrayList<>();
        ServiceLoader.load(RdmaProvider.class, RdmaProvider.class.getClassLoader())
                .forEach(found::add);
        found.sort(Comparator.comparingInt(RdmaProvider::id));
        return List.copyOf(found);
    }
}
