package io.softdpu.perf.demo;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import java.util.Optional;

/**
 * The default devices of a pipeline of three processes: the first function of the host that a port
 * of the DPU made, that port, and the first device of the target.
 *
 * @param host the initiator's
 * @param port the service's
 * @param target the target's
 */
public record DemoDevices(PciFunction host, PciFunction port, PciFunction target) {
    /**
     * Those of a topology.
     *
     * @throws DpuException NOT_FOUND if it has not all three
     */
    public static DemoDevices of(Topology topology) {
        PciFunction host =
                first(
                        topology,
                        "a function of the host that a port of the DPU made",
                        topology.functionsOf(Side.HOST).stream()
                                .filter(f -> f.parent() != null)
                                .findFirst());
        return new DemoDevices(
                host,
                topology.parentOf(host).orElseThrow(),
                first(
                        topology,
                        "a device of the target",
                        topology.functionsOf(Side.TARGET).stream().findFirst()));
    }

    private static PciFunction first(
            Topology topology, String what, Optional<PciFunction> function) {
        return function.orElseThrow(() ->
                new DpuException(
                        Status.NOT_FOUND,
                        "topology lacks a device: topology=" + topology + ", missing=" + what));
    }
}
