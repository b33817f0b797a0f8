package io.softdpu.samples;

import io.softdpu.compute.DmaCapabilities;
import io.softdpu.compute.ShaCapabilities;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Choice of the devices of a topology that a sample needs, unless the user names them. */
final class SampleDevices {
    private SampleDevices() {}

    /**
     * The named device, or the first of the machine that copies by DMA.
     *
     * @param tasks number of tasks that its DMA context has
     * @param bytes size of each copy
     */
    static DeviceInfo forDma(Machine machine, @Nullable String named, int tasks, int bytes) {
        if (named != null) {
            return machine.findDevice(named);
        }
        return machine.devices().stream()
                .filter(device -> isEnough(DmaCapabilities.of(device), tasks, bytes))
                .findFirst()
                .orElseThrow(
                        lack(
                                machine.topology(),
                                Text.format(
                                        "a device of the side %s for DMA with %d tasks of %d bytes",
                                        machine.side().id(), tasks, bytes)));
    }

    private static boolean isEnough(DmaCapabilities dma, int tasks, int bytes) {
        return dma.isMemcpySupported() && dma.maxTasks() >= tasks && dma.maxBufferBytes() >= bytes;
    }

    /** The named device, or the first of the machine that hashes by SHA. */
    static DeviceInfo forSha(Machine machine, @Nullable String named) {
        if (named != null) {
            return machine.findDevice(named);
        }
        return machine.devices().stream()
                .filter(device -> ShaCapabilities.of(device).isSupported())
                .findFirst()
                .orElseThrow(
                        lack(
                                machine.topology(),
                                Text.format(
                                        "a device of the side %s for SHA", machine.side().id())));
    }

    /** The named function of the host, or the first that a port of the DPU exposes. */
    static String hostFunction(Topology topology, @Nullable String named) {
        return named == null ? firstExposed(topology).interfaceName() : named;
    }

    /** The port of the DPU that exposes the function with this representor; any if it is null. */
    static String port(Topology topology, @Nullable String named, @Nullable String representor) {
        if (named != null) {
            return named;
        }
        PciFunction function =
                topology.functionsOf(Side.HOST).stream()
                        .filter(one -> one.parent() != null)
                        .filter(one -> Objects.equals(one.representor(), representor))
                        .findFirst()
                        .orElseGet(() -> firstExposed(topology));
        return topology.parentOf(function).orElseThrow().interfaceName();
    }

    /** The named representor, or that of the first function of the host that the port exposes. */
    static String representor(DeviceInfo port, @Nullable String named) {
        if (named != null) {
            return named;
        }
        Topology topology = port.machine().topology();
        return topology.childrenOf(port.function()).stream()
                .filter(function -> function.side() == Side.HOST)
                .map(PciFunction::representor)
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow(
                        lack(
                                topology,
                                "a function of the host at the port " + port.interfaceName()));
    }

    private static PciFunction firstExposed(Topology topology) {
        return topology.functionsOf(Side.HOST).stream()
                .filter(function -> function.parent() != null)
                .findFirst()
                .orElseThrow(
                        lack(topology, "a function of the host that a port of the DPU exposes"));
    }

    /** The failure of a topology that lacks a device. */
    static Supplier<DpuException> lack(Topology topology, String needed) {
        return () ->
                new DpuException(
                        Status.NOT_FOUND,
                        "topology lacks a device for this sample: topology="
                                + topology.name()
                                + ", expected="
                                + needed
                                + "; `softdpu topology` draws it, --topology names another");
    }
}
