package io.softdpu.rdma.roce;

import io.softdpu.core.Side;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import io.softdpu.rdma.contract.RdmaTrait;
import java.nio.file.Path;
import java.util.Set;

/**
 * The same environment over IPv6. Loopback has one address, which all devices have: those of a
 * process share a NIC, and each further process has a NIC with another port than that of RoCE v2.
 */
public final class RoceIpv6TestEnvironment implements RdmaTestEnvironment {
    private static final String LOOPBACK = "::1";

    private final RoceTestEnvironment devices = new RoceTestEnvironment();

    /** For the contract's peer process. */
    public RoceIpv6TestEnvironment() {}

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
        Topology.Builder made = Topology.builder(topology.name());
        for (PciFunction function : topology.functions()) {
            made.add(function.toBuilder().ipv6(LOOPBACK).build());
        }
        return devices.openMachine(folder, side, made.build());
    }

    @Override
    public int gidIndex() {
        return 1;
    }

    /** Whichever GID an instance has: no. */
    @Override
    public boolean hasIpv6() {
        return devices.hasIpv6();
    }

    @Override
    public boolean connectsOneEndToItself() {
        return devices.connectsOneEndToItself();
    }

    @Override
    public void hold() {
        devices.hold();
    }

    @Override
    public void release() {
        devices.release();
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
