package io.softdpu.rdma.roce;

import io.softdpu.core.Side;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import io.softdpu.rdma.contract.RdmaTrait;
import io.softdpu.rdma.roce.nic.HeldNics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Test environment of the card and a storage target, each with a fabric folder of its own. Their
 * devices have addresses of the test's own in 127.0.0.0/8, which its processes derive from its
 * folder: connections by address need the port of RoCE v2, which tests that run at a time would
 * take from each other.
 */
public class RoceTestEnvironment implements RdmaTestEnvironment {
    /** Addresses of the devices, and of the function that shares the card's. */
    private static final List<String> BUILTIN = List.of("127.3.0.1", "127.3.0.2", "127.65.0.1");

    private static final int OWN_BITS = 21;
    private static final int GOLDEN_RATIO = 0x9e37_79b9;

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
            return Machine.builder(side)
                    .fabricFolder(fabricFolder(folder, side))
                    .topology(withOwnAddresses(folder, topology))
                    .open();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The fabric folder of a side, in the folder of a test. */
    Path fabricFolder(Path folder, Side side) throws IOException {
        return Files.createDirectories(folder.resolve(side == Side.TARGET ? "target" : "card"));
    }

    private static Topology withOwnAddresses(Path folder, Topology topology) throws IOException {
        int own =
                folder.toRealPath().toString().hashCode() * GOLDEN_RATIO
                        >>> Integer.SIZE - OWN_BITS;
        Topology.Builder made = Topology.builder(topology.name());
        for (PciFunction function : topology.functions()) {
            int place = BUILTIN.indexOf(function.ipv4().getHostAddress());
            made.add(
                    place < 0
                            ? function
                            : function.toBuilder().ipv4(ownAddress(own, place)).build());
        }
        return made.build();
    }

    /** One in 127.128.0.0/9. */
    private static String ownAddress(int own, int place) {
        int second = 128 + (own >>> 14) % 127;
        int third = own >>> 6 & 0xff;
        int last = (own & 0x3f) << 2 | place;
        return "127." + second + "." + third + "." + last;
    }

    @Override
    public boolean hasIpv6() {
        return false;
    }

    /** One queue pair has one peer, and connection management has two ends. */
    @Override
    public boolean connectsOneEndToItself() {
        return false;
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
