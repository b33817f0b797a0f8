package io.softdpu.comch;

import static io.softdpu.comch.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.FunctionType;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Representor;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.ContextState;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Contexts that can be created on each device, and the one function that a server is for. The
 * topology is the built-in one with a sub function of the host.
 */
class DeviceSupportTest {
    private static final Duration SHORT = Duration.ofMillis(80);

    @TempDir Path folder;
    private Card card;

    @BeforeEach
    void open() {
        card = new Card(folder, topology());
    }

    @AfterEach
    void close() throws Exception {
        card.close();
    }

    private static Topology topology() {
        Topology.Builder topology = Topology.builder("with a sub function of the host");
        Topology.builtin().functions().forEach(topology::add);
        return topology.add(
                        PciFunction.builder(Side.HOST, "pf0sf0")
                                .ibdevName("mlx5_5")
                                .type(FunctionType.SF)
                                .pciAddress("0b:00.0")
                                .parent("p0")
                                .representor("hpf0sf0")
                                .ipv4("127.11.0.2")
                                .macAddress("02:53:44:0b:00:02")
                                .vuid("SDPU-host-pf0sf0")
                                .build())
                .build();
    }

    private Device device(Side side, String id) {
        Machine machine =
                switch (side) {
                    case HOST -> card.host;
                    case DPU -> card.dpu;
                    case TARGET ->
                            card.keep(
                                    Machine.builder(Side.TARGET)
                                            .fabricFolder(folder.resolve("fabric"))
                                            .topology(topology())
                                            .open());
                };
        return card.keep(machine.findDevice(id).open());
    }

    @Clause({"cc-020", "cc-056", "cc-070"})
    @ParameterizedTest
    @CsvSource({
        "DPU, p0, true",
        "DPU, p1, true",
        "DPU, p0s0, false",
        "DPU, p1s0, false",
        "HOST, pf0, false",
        "HOST, pf1, false",
        "HOST, pf0vf0, false",
        "HOST, pf0vf1, false",
        "HOST, pf1vf0, false",
        "HOST, pf0sf0, false",
        "TARGET, t0, false"
    })
    void shouldCreateServerOnPortOfTheDpuOnly(Side side, String id, boolean supported) {
        Device device = device(side, id);
        assertThat(ComchCapabilities.of(device.info()).isServerSupported()).isEqualTo(supported);
        if (supported) {
            String shown = id.equals("p0") ? "hpf0" : "hpf1";
            Representor own = card.keep(device.findRepresentor(shown).open());
            ComchServer.create(device, own, "name").close();
        } else {
            assertRefused(
                    Status.NOT_SUPPORTED, () -> ComchServer.create(device, card.hpf0, "name"));
        }
    }

    @Clause({"cc-021", "cc-056", "cc-071"})
    @ParameterizedTest
    @CsvSource({
        "HOST, pf0, true",
        "HOST, pf1, true",
        "HOST, pf0vf0, true",
        "HOST, pf0vf1, true",
        "HOST, pf1vf0, true",
        "HOST, pf0sf0, true",
        "DPU, p0, false",
        "DPU, p1, false",
        "DPU, p0s0, false",
        "DPU, p1s0, false",
        "TARGET, t0, false"
    })
    void shouldCreateClientOnHostFunctionOnly(Side side, String id, boolean supported) {
        Device device = device(side, id);
        assertThat(ComchCapabilities.of(device.info()).isClientSupported()).isEqualTo(supported);
        if (supported) {
            ComchClient.create(device, "name").close();
        } else {
            assertRefused(Status.NOT_SUPPORTED, () -> ComchClient.create(device, "name"));
        }
    }

    @Clause({"cc-072", "cc-073"})
    @ParameterizedTest
    @CsvSource({
        "DPU, p0, true",
        "DPU, p1, true",
        "HOST, pf0, true",
        "HOST, pf1, true",
        "HOST, pf0vf0, true",
        "HOST, pf0vf1, true",
        "HOST, pf1vf0, true",
        "HOST, pf0sf0, true",
        "DPU, p0s0, false",
        "DPU, p1s0, false",
        "TARGET, t0, false"
    })
    void shouldOfferTheFastPathWhereServerOrClientCanBe(Side side, String id, boolean supported) {
        ComchCapabilities can = ComchCapabilities.of(device(side, id).info());
        assertThat(can.isProducerSupported()).isEqualTo(supported);
        assertThat(can.isConsumerSupported()).isEqualTo(supported);
    }

    @Clause({"cc-031", "cc-039"})
    @ParameterizedTest
    @CsvSource({
        "p0, hpf0, pf0",
        "p1, hpf1, pf1",
        "p0, hpf0vf0, pf0vf0",
        "p0, hpf0vf1, pf0vf1",
        "p1, hpf1vf0, pf1vf0",
        "p0, hpf0sf0, pf0sf0"
    })
    void shouldConnectClientOfTheRepresentedFunctionOnly(
            String portId, String representor, String function) {
        Device port = device(Side.DPU, portId);
        Representor represented = card.keep(port.findRepresentor(representor).open());
        Peer server = Peer.server(card, Card.NAME, represented);
        server.endpoint.start();
        List<Peer> others = new ArrayList<>();
        for (DeviceInfo device : DeviceInfo.listOf(card.host)) {
            if (!device.interfaceName().equals(function)) {
                Peer client = Peer.client(card, Card.NAME, card.keep(device.open()));
                ((ComchClient) client.endpoint).setConnectTimeout(SHORT);
                client.endpoint.start();
                others.add(client);
            }
        }
        assertThat(others).hasSize(5);
        for (Peer other : others) {
            card.until("gave up", () -> other.endpoint.state() == ContextState.IDLE);
            assertThat(other.endpoint.failure().status()).isEqualTo(Status.NOT_FOUND);
        }
        assertThat(server.events).isEmpty();

        Peer client = Peer.client(card, Card.NAME, device(Side.HOST, function));
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        card.until("connected", () -> server.connection != null);
        assertThat(server.connection.function()).isEqualTo("host/" + function);
    }
}
