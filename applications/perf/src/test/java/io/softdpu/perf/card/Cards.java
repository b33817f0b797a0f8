package io.softdpu.perf.card;

import io.softdpu.core.Side;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;

/** Cards for tests. */
public final class Cards {
    private Cards() {}

    /** The built-in card, with devices of one side that lack one kind of tasks. */
    public static Topology without(Side side, DeviceLimit limit) {
        Topology.Builder topology = Topology.builder("without");
        for (PciFunction function : Topology.builtin().functions()) {
            topology.add(
                    function.side() == side
                            ? function.toBuilder().limit(limit, 0).build()
                            : function);
        }
        return topology.build();
    }
}
