package io.softdpu.core.device;

import io.softdpu.core.Side;
import io.softdpu.linux.text.Text;
import org.jspecify.annotations.Nullable;

/**
 * Built-in topology: the example of the Core guide, section 3.2.1.2, with a storage target added.
 *
 * <p>The guide gives the PCIe addresses and the names of ports, functions and representors. The
 * rest is ours: the IPv4 addresses are in 127.0.0.0/8, which every Linux machine serves without
 * configuration, with the PCIe bus and the device number as second and third byte, so that they are
 * unique; the MAC addresses are locally administered ones.
 */
final class BuiltinTopology {
    private static final long RATE_BITS_PER_SECOND = 200_000_000_000L;

    private BuiltinTopology() {}

    static Topology make() {
        return Topology.builder("default")
                .add(port("p0", "mlx5_0", "03:00.0"))
                .add(port("p1", "mlx5_1", "03:00.1"))
                .add(sub("p0s0", "mlx5_2", "03:00.0", "p0", "pf0sf0"))
                .add(sub("p1s0", "mlx5_3", "03:00.1", "p1", "pf1sf0"))
                .add(host("pf0", "mlx5_0", FunctionType.PF, "0b:00.0", "p0", "hpf0"))
                .add(host("pf1", "mlx5_1", FunctionType.PF, "0b:00.1", "p1", "hpf1"))
                .add(host("pf0vf0", "mlx5_2", FunctionType.VF, "0b:00.2", "p0", "hpf0vf0"))
                .add(host("pf0vf1", "mlx5_3", FunctionType.VF, "0b:00.3", "p0", "hpf0vf1"))
                .add(host("pf1vf0", "mlx5_4", FunctionType.VF, "0b:00.4", "p1", "hpf1vf0"))
                .add(function(Side.TARGET, "t0", "mlx5_0", FunctionType.PF, "41:00.0", null, null))
                .build();
    }

    private static PciFunction port(String name, String ibdev, String pci) {
        return function(Side.DPU, name, ibdev, FunctionType.PF, pci, null, null);
    }

    private static PciFunction sub(
            String name, String ibdev, String pci, String parent, String representor) {
        return function(Side.DPU, name, ibdev, FunctionType.SF, pci, parent, representor);
    }

    private static PciFunction host(
            String name,
            String ibdev,
            FunctionType type,
            String pci,
            String parent,
            String representor) {
        return function(Side.HOST, name, ibdev, type, pci, parent, representor);
    }

    private static PciFunction function(
            Side side,
            String name,
            String ibdev,
            FunctionType type,
            String pci,
            @Nullable String parent,
            @Nullable String representor) {
        PciAddress address = PciAddress.of(pci);
        int last = type == FunctionType.SF ? 2 : 1;
        return PciFunction.builder(side, name)
                .ibdevName(ibdev)
                .type(type)
                .pciAddress(address)
                .ipv4(Text.format("127.%d.%d.%d", address.bus(), address.function(), last))
                .macAddress(
                        Text.format(
                                "02:53:44:%02x:%02x:%02x", address.bus(), address.function(), last))
                .vuid(Text.format("SDPU-%s-%s", side.id(), name))
                .activeRate(RATE_BITS_PER_SECOND)
                .parent(parent)
                .representor(representor)
                .build();
    }
}
