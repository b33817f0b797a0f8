package io.softdpu.rdma.roce;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Topology;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import io.softdpu.rdma.contract.RdmaTrait;
import java.nio.file.Path;
import java.util.Set;

/** The same environment, whose programs exchange the numbers of their queue pairs and memory. */
public final class RoceParametersTestEnvironment implements RdmaTestEnvironment {
    private final RoceTestEnvironment devices = new RoceTestEnvironment();

    /** For the contract. */
    public RoceParametersTestEnvironment() {}

    @Override
    public byte[] blobOf(RdmaConnection exported) {
        return RoceQueuePair.of(exported).blob();
    }

    @Override
    public Mmap importRdma(Mmap exported, Device of, Device importer) {
        return RoceMemory.of(exported, of).importFrom(of.info().ipv4(), importer);
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
        return devices.openMachine(folder, side, topology);
    }

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
