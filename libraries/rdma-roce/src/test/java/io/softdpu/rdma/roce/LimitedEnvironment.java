package io.softdpu.rdma.roce;

import io.softdpu.core.Side;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import io.softdpu.rdma.contract.RdmaTrait;
import java.nio.file.Path;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Test environment in which some devices limit messages to 10,000 bytes, two and a half packets.
 */
final class LimitedEnvironment implements RdmaTestEnvironment {
    private static final int LIMIT_BYTES = 10_000;

    private final RoceTestEnvironment devices = new RoceTestEnvironment();
    private final Predicate<PciFunction> limited;

    /**
     * @param limited which devices
     */
    LimitedEnvironment(Predicate<PciFunction> limited) {
        this.limited = limited;
    }

    @Override
    public Side nearSide() {
        return devices.nearSide();
    }

    @Override
    public Side farSide() {
        return devices.farSide();
    }

    @Override
    public Machine openMachine(Path folder, Side side) {
        Topology.Builder topology = Topology.builder("small messages");
        Topology.builtin().functions().stream()
                .map(f ->
                        limited.test(f)
                                ? f.toBuilder()
                                        .limit(RdmaCapabilities.MESSAGE_SIZE_LIMIT, LIMIT_BYTES)
                                        .build()
                                : f)
                .forEach(topology::add);
        return RoceTestEnvironment.openMachine(folder, side, topology.build());
    }

    @Override
    public Set<RdmaTrait> traits() {
        return devices.traits();
    }

    @Override
    public String device(Side side) {
        return devices.device(side);
    }
}
