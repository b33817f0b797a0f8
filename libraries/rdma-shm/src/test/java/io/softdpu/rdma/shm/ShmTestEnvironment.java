package io.softdpu.rdma.shm;

import io.softdpu.core.Side;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Topology;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import io.softdpu.rdma.contract.RdmaTrait;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;

/** Test environment of the DPU and a storage target that share a fabric folder. */
public final class ShmTestEnvironment implements RdmaTestEnvironment {
    /** For the contract's peer process. */
    public ShmTestEnvironment() {}

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
        return Machine.builder(side).fabricFolder(folder).topology(topology).open();
    }

    @Override
    public Set<RdmaTrait> traits() {
        return EnumSet.allOf(RdmaTrait.class);
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
