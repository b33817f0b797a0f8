package io.softdpu.perf.demo;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.perf.card.ComchPair;

/**
 * The default devices of a pipeline of three processes.
 *
 * @param pair the initiator's and the service's
 * @param target the target's: the first of its side
 */
public record DemoDevices(ComchPair pair, PciFunction target) {
    /**
     * Those of a topology.
     *
     * @throws DpuException NOT_FOUND if it has not all three
     */
    public static DemoDevices of(Topology topology) {
        return new DemoDevices(
                ComchPair.of(topology),
                topology.functionsOf(Side.TARGET).stream()
                        .findFirst()
                        .orElseThrow(() -> ComchPair.missing(topology, "a device of the target")));
    }

    /** The card. */
    Topology topology() {
        return pair.topology();
    }

    /** The initiator's device. */
    PciFunction host() {
        return pair.host();
    }

    /** The service's device. */
    PciFunction port() {
        return pair.port();
    }
}
