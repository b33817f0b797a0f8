package io.softdpu.rdma.contract;

import io.softdpu.core.Side;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.rdma.RdmaCapabilities;
import java.nio.file.Path;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Test environment like another, in which some devices limit messages to 10,000 bytes: two and a
 * half packets, or slots, of 4,096 bytes. For tests of one process.
 */
public final class LimitedTestEnvironment implements RdmaTestEnvironment {
    private static final int LIMIT_BYTES = 10_000;

    private final RdmaTestEnvironment devices;
    private final Predicate<PciFunction> limited;

    /**
     * @param devices the other environment
     * @param limited which devices
     */
    public LimitedTestEnvironment(RdmaTestEnvironment devices, Predicate<PciFunction> limited) {
        this.devices = devices;
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
    public Machine openMachine(Path folder, Side side, Topology topology) {
        Topology.Builder changed = Topology.builder("small messages");
        topology.functions().stream()
                .map(f ->
                        limited.test(f)
                                ? f.toBuilder()
                                        .limit(RdmaCapabilities.MESSAGE_SIZE_LIMIT, LIMIT_BYTES)
                                        .build()
                                : f)
                .forEach(changed::add);
        return devices.openMachine(folder, side, changed.build());
    }

    @Override
    public boolean hasIpv6() {
        return devices.hasIpv6();
    }

    @Override
    public int gidIndex() {
        return devices.gidIndex();
    }

    @Override
    public boolean connectsOneEndToItself() {
        return devices.connectsOneEndToItself();
    }

    @Override
    public Set<RdmaTrait> traits() {
        return devices.traits();
    }

    @Override
    public String device(Side side) {
        return devices.device(side);
    }

    @Override
    public void hold() {
        devices.hold();
    }

    @Override
    public void release() {
        devices.release();
    }
}
