package io.softdpu.rdma.roce;

import io.softdpu.core.Side;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Topology;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import io.softdpu.rdma.contract.RdmaTrait;
import io.softdpu.rdma.roce.nic.HeldNics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;

/** Test environment of the card and a storage target, each with a fabric folder of its own. */
public final class RoceTestEnvironment implements RdmaTestEnvironment {
    /** For the contract's peer process. */
    public RoceTestEnvironment() {}

    @Override
    public Side nearSide() {
        return Side.TARGET;
    }

    @Override
    public Side farSide() {
        return Side.DPU;
    }

    @Override
    public Machine openMachine(Path folder, Side side, Topology topology) {
        try {
            String machine = side == Side.TARGET ? "target" : "card";
            Path own = Files.createDirectories(folder.resolve(machine));
            return Machine.builder(side).fabricFolder(own).topology(topology).open();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void hold() {
        HeldNics.hold();
    }

    @Override
    public void release() {
        HeldNics.release();
    }

    @Override
    public Set<RdmaTrait> traits() {
        return EnumSet.noneOf(RdmaTrait.class);
    }

    @Override
    public String device(Side side) {
        return switch (side) {
            case HOST -> "0b:00.0";
            case DPU -> "03:00.0";
            case TARGET -> "t0";
        };
    }
}
