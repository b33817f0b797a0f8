package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Suggestions;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.spi.RdmaProvider;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/** Providers found by ServiceLoader, smallest id first; loaded once. Any thread. */
final class Providers {
    private static final String VARIABLE = "SOFTDPU_RDMA_PROVIDER";

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
                                    ? "the artefact io.softdpu:softdpu-rdma-shm or"
                                            + " io.softdpu:softdpu-rdma-roce at run time"
                                    : "a device that one of them supports"));
        }
        return supporting;
    }

    /**
     * The provider of this name.
     *
     * @param supporting the providers that support the device
     * @throws DpuException NOT_FOUND if there is none of this name, naming the others
     */
    static RdmaProvider named(List<RdmaProvider> supporting, DeviceInfo device, String name) {
        return named(supporting, device, "call=of", name, "");
    }

    /**
     * The provider of this name.
     *
     * @param source of the name, for the message: {@code call=setProvider}
     * @param besides what may be named besides a provider, for the message
     */
    private static RdmaProvider named(
            List<RdmaProvider> supporting,
            DeviceInfo device,
            String source,
            String name,
            String besides) {
        return supporting.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> {
                    List<String> known = names(supporting);
                    return new DpuException(
                            Status.NOT_FOUND,
                            Text.format(
                                    "no RDMA provider of this name serves the device: %s,"
                                            + " provider=%s, device=%s, expected=%sone of %s%s",
                                    source,
                                    ForeignText.escapeAndCut(name),
                                    device.pciAddress(),
                                    besides,
                                    known,
                                    Suggestions.question(Suggestions.of(name, known))));
                });
    }

    /**
     * The providers that an instance may use for which the program has chosen none.
     *
     * @throws DpuException NOT_SUPPORTED if none supports the device; NOT_FOUND if the environment
     *     names none of them
     */
    static List<RdmaProvider> ofEnvironment(DeviceInfo device) {
        return ofEnvironment(require(device), device, System.getenv(VARIABLE));
    }

    /**
     * The providers that the variable names.
     *
     * @param named null or empty for all
     */
    static List<RdmaProvider> ofEnvironment(
            List<RdmaProvider> supporting, DeviceInfo device, @Nullable String named) {
        return named == null || named.isEmpty()
                ? supporting
                : chosen(supporting, device, "variable=" + VARIABLE, named);
    }

    /**
     * The providers that an instance may use.
     *
     * @param chosen name of the only one; {@link Rdma#ANY_PROVIDER} for all
     * @throws DpuException NOT_SUPPORTED if none supports the device; NOT_FOUND
     */
    static List<RdmaProvider> chosen(DeviceInfo device, String chosen) {
        return chosen(require(device), device, "call=setProvider", chosen);
    }

    /**
     * The providers that an instance may use.
     *
     * @param supporting the providers that support the device
     * @param source of the name, for the message: {@code call=setProvider}
     * @param chosen name of the only one; {@link Rdma#ANY_PROVIDER} for all
     * @throws DpuException NOT_FOUND if there is none of this name, naming the others
     */
    static List<RdmaProvider> chosen(
            List<RdmaProvider> supporting, DeviceInfo device, String source, String chosen) {
        return chosen.equals(Rdma.ANY_PROVIDER)
                ? supporting
                : List.of(named(supporting, device, source, chosen, Rdma.ANY_PROVIDER + " or "));
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
