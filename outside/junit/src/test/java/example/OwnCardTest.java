package example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.softdpu.comch.ComchCapabilities;
import io.softdpu.core.Side;
import io.softdpu.core.device.FunctionType;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A card made in code: a port with one function of the host, and a server for few clients. */
class OwnCardTest {
    private static final PciFunction PORT =
            PciFunction.builder(Side.DPU, "p0")
                    .ibdevName("mlx5_0")
                    .type(FunctionType.PF)
                    .pciAddress("03:00.0")
                    .ipv4("127.3.0.1")
                    .macAddress("02:53:44:03:00:01")
                    .vuid("small-p0")
                    .activeRate(100_000_000_000L)
                    .limit("comch.max_clients", 2)
                    .build();

    private static final PciFunction HOST =
            PciFunction.builder(Side.HOST, "pf0")
                    .ibdevName("mlx5_0")
                    .type(FunctionType.PF)
                    .pciAddress("0b:00.0")
                    .parent("p0")
                    .representor("hpf0")
                    .ipv4("127.11.0.1")
                    .macAddress("02:53:44:0b:00:01")
                    .vuid("small-pf0")
                    .activeRate(100_000_000_000L)
                    .build();

    @RegisterExtension
    static final SoftDpuExtension CARD =
            SoftDpuExtension.builder()
                    .topology(Topology.builder("small").add(PORT).add(HOST).build())
                    .build();

    @Test
    void shouldHaveTheLimitOfTheCard(SoftDpu card) {
        assertEquals("pf0", card.hostDevice().info().interfaceName());
        assertEquals(2, ComchCapabilities.of(card.dpuDevice().info()).maxClients());
    }
}
