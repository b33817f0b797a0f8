package io.softdpu.perf.card;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.linux.text.Text;

/**
 * Two devices of a topology between which a Comm Channel is possible: the first function of the
 * host that a port of the DPU made, and that port.
 *
 * @param topology the card
 * @param host the function of the host
 * @param port the port of the DPU
 */
public record ComchPair(Topology topology, PciFunction host, PciFunction port) {
    /**
     * The pair of a topology.
     *
     * @throws DpuException NOT_FOUND if it has none
     */
    public static ComchPair of(Topology topology) {
        PciFunction host =
                topology.functionsOf(Side.HOST).stream()
                        .filter(function -> function.parent() != null)
                        .findFirst()
                        .orElseThrow(() ->
                                missing(
                                        topology,
                                        "a function of the host that a port of the DPU made"));
        return new ComchPair(topology, host, topology.parentOf(host).orElseThrow());
    }

    /** The error for a topology that lacks a device. */
    public static DpuException missing(Topology topology, String device) {
        return new DpuException(
                Status.NOT_FOUND,
                "topology lacks a device: topology="
                        + topology.name()
                        + ", expected="
                        + device
                        + "; another topology is chosen by --topology or SOFTDPU_TOPOLOGY");
    }

    /** The device of a side, host or DPU. */
    public PciFunction of(Side side) {
        return side == Side.HOST ? host : port;
    }

    /**
     * Checks that the device of a side supports what a limit bounds.
     *
     * @param measurement that needs it
     * @throws DpuException NOT_SUPPORTED if the limit is 0
     */
    public void requireSupported(Side side, DeviceLimit limit, String measurement) {
        PciFunction function = of(side);
        if (function.lowered(limit, 1) == 0) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "device does not support the measurement: measurement=%s, device=%s,"
                                    + " limit=%s, value=0, expected=1 or more",
                            measurement, function.key(), limit.id()));
        }
    }
}
