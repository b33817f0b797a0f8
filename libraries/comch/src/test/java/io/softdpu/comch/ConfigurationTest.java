package io.softdpu.comch;

import static io.softdpu.comch.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.testkit.Clause;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Configuration of contexts: optional and mandatory settings, and the capabilities of devices. */
class ConfigurationTest {
    @TempDir Path folder;
    private Card card;

    @BeforeEach
    void open() {
        card = new Card(folder);
    }

    @AfterEach
    void close() throws Exception {
        card.close();
    }

    @Clause({"cc-029", "cc-059"})
    @Test
    void shouldNeedDeviceRepresentorAndName() {
        assertRefused(Status.INVALID_VALUE, () -> ComchServer.create(null, card.hpf0, "name"));
        assertRefused(Status.INVALID_VALUE, () -> ComchServer.create(card.p0, null, "name"));
        assertRefused(Status.INVALID_VALUE, () -> ComchServer.create(card.p0, card.hpf0, null));
        assertRefused(Status.INVALID_VALUE, () -> ComchClient.create(null, "name"));
        assertRefused(Status.INVALID_VALUE, () -> ComchClient.create(card.pf0, null));
        Device p1 = card.keep(card.dpu.findDevice("p1").open());
        assertRefused(Status.NOT_PERMITTED, () -> ComchServer.create(p1, card.hpf0, "name"));
    }

    @Clause({"cc-059", "cc-074"})
    @Test
    void shouldRefuseServerNamesOutsideTheLimit() {
        int maximum = ComchCapabilities.of(card.p0.info()).maxNameBytes();
        String longest = "n".repeat(maximum - 1); // the NUL of the C API counts
        ComchServer.create(card.p0, card.hpf0, longest).close();
        ComchClient.create(card.pf0, longest).close();
        for (String illegal : new String[] {"", longest + "n", "a\0b"}) {
            assertRefused(
                    Status.INVALID_VALUE, () -> ComchServer.create(card.p0, card.hpf0, illegal));
            assertRefused(Status.INVALID_VALUE, () -> ComchClient.create(card.pf0, illegal));
        }
    }

    @Clause({"cc-057", "cc-058", "cc-060"})
    @ParameterizedTest
    @ValueSource(strings = {"send tasks", "message callback", "connected callback"})
    void shouldNotStartServerWithout(String item) {
        ComchServer server = card.keep(ComchServer.create(card.p0, card.hpf0, "name"));
        card.dpuEngine.connect(server);
        if (!item.equals("send tasks")) {
            server.setSendTasks(1, task -> {}, task -> {});
        }
        if (!item.equals("message callback")) {
            server.setMessageCallback((from, message) -> {});
        }
        if (!item.equals("connected callback")) {
            server.setConnectedCallback(c -> {});
        }
        assertRefused(Status.INVALID_VALUE, () -> server.setSendTasks(1, null, task -> {}));
        assertRefused(Status.INVALID_VALUE, () -> server.setSendTasks(1, task -> {}, null));
        assertRefused(Status.BAD_STATE, server::start).hasMessageContaining("item=" + item);
        assertThat(server.state()).isEqualTo(ContextState.IDLE);
    }

    @Clause({"cc-057", "cc-058"})
    @Test
    void shouldNotStartClientWithoutMandatoryItems() {
        ComchClient client = card.keep(ComchClient.create(card.pf0, "name"));
        card.hostEngine.connect(client);
        assertRefused(Status.INVALID_VALUE, () -> client.setSendTasks(1, null, task -> {}));
        assertRefused(Status.INVALID_VALUE, () -> client.setSendTasks(1, task -> {}, null));
        assertRefused(Status.BAD_STATE, client::start).hasMessageContaining("send tasks");
        client.setSendTasks(1, task -> {}, task -> {});
        assertRefused(Status.BAD_STATE, client::start).hasMessageContaining("message callback");
        client.setMessageCallback((from, message) -> {});
        client.start();
        client.stop();
    }

    @Clause("cc-075")
    @Test
    void shouldRefuseMessageSizesBeyondTheQueriedLimit() {
        for (ComchEndpoint endpoint : serverAndClient()) {
            int maximum = ComchCapabilities.of(endpoint.device().info()).maxMessageBytes();
            assertThat(maximum).isEqualTo(4080);
            endpoint.setMaxMessageBytes(maximum);
            refusesBeyond(maximum, endpoint::setMaxMessageBytes);
        }
    }

    @Clause("cc-076")
    @Test
    void shouldRefuseReceiveQueuesBeyondTheQueriedLimit() {
        for (ComchEndpoint endpoint : serverAndClient()) {
            int maximum = ComchCapabilities.of(endpoint.device().info()).maxReceiveQueueSize();
            endpoint.setReceiveQueueSize(maximum);
            refusesBeyond(maximum, endpoint::setReceiveQueueSize);
        }
    }

    @Test
    void shouldRefuseMoreClientsThanTheQueriedLimit() {
        ComchServer server = card.keep(ComchServer.create(card.p0, card.hpf0, "name"));
        int maximum = ComchCapabilities.of(card.p0.info()).maxClients();
        server.setMaxClients(maximum);
        refusesBeyond(maximum, server::setMaxClients);
    }

    @Clause({"cc-078", "cc-086"})
    @Test
    void shouldRefuseMoreSendTasksThanTheQueriedLimit() {
        for (ComchEndpoint endpoint : serverAndClient()) {
            int maximum = ComchCapabilities.of(endpoint.device().info()).maxSendTasks();
            endpoint.setSendTasks(maximum, task -> {}, task -> {});
            refusesBeyond(maximum, count -> endpoint.setSendTasks(count, task -> {}, task -> {}));
        }
    }

    @Clause({"cc-078", "cc-101"})
    @Test
    void shouldRefuseMorePostReceiveTasksThanTheQueriedLimit() {
        Card.Pair pair = card.pair();
        ComchConsumer consumer =
                card.keep(
                        ComchConsumer.create(
                                pair.server().connection, card.memory(card.p0, 4096).mmap()));
        int maximum = ComchCapabilities.of(card.p0.info()).maxConsumerTasks();
        consumer.setPostReceiveTasks(maximum, task -> {}, task -> {});
        refusesBeyond(
                maximum, count -> consumer.setPostReceiveTasks(count, task -> {}, task -> {}));
    }

    @Clause("cc-115")
    @Test
    void shouldRefuseMoreProducerSendTasksThanTheQueriedLimit() {
        Card.Pair pair = card.pair();
        ComchProducer producer = card.keep(ComchProducer.create(pair.server().connection));
        int maximum = ComchCapabilities.of(card.p0.info()).maxProducerTasks();
        producer.setSendTasks(maximum, task -> {}, task -> {});
        refusesBeyond(maximum, count -> producer.setSendTasks(count, task -> {}, task -> {}));
    }

    private List<ComchEndpoint> serverAndClient() {
        return List.of(
                card.keep(ComchServer.create(card.p0, card.hpf0, "name")),
                card.keep(ComchClient.create(card.pf0, "name")));
    }

    @Clause("cc-010")
    @Test
    void shouldOfferTheFastPathOnBothSidesOfChannel() {
        for (Device device : new Device[] {card.p0, card.pf0}) {
            ComchCapabilities limits = ComchCapabilities.of(device.info());
            assertThat(limits.isProducerSupported()).isTrue();
            assertThat(limits.isConsumerSupported()).isTrue();
            assertThat(limits.maxProducerBufferBytes()).isGreaterThanOrEqualTo(1L << 30);
            assertThat(limits.maxConsumerBufferBytes()).isGreaterThanOrEqualTo(1L << 30);
            assertThat(limits.maxImmediateBytes()).isEqualTo(32);
            assertThat(limits.maxBufferListLength()).isEqualTo(1);
            assertThat(limits.maxProducers()).isPositive();
            assertThat(limits.maxConsumers()).isPositive();
        }
        ComchCapabilities none = ComchCapabilities.of(card.dpu.findDevice("p0s0"));
        assertThat(none.isProducerSupported()).isFalse();
        assertThat(none.isConsumerSupported()).isFalse();
        assertThat(none.maxMessageBytes()).isZero();
        assertThat(none.maxProducerBufferBytes()).isZero();
    }

    @Clause("cc-055")
    @ParameterizedTest
    @EnumSource(
            value = ContextState.class,
            names = {"STARTING", "RUNNING", "STOPPING"})
    void shouldRefuseChangesOfAClientInEachStateButIdle(ContextState state) {
        Peer client = Peer.client(card, Card.NAME);
        client.endpoint.start();
        ComchSendTask kept = null;
        if (state != ContextState.STARTING) {
            Peer.server(card, Card.NAME).endpoint.start();
            card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
            kept = client.endpoint.allocateSendTask(client.connection());
        }
        if (state == ContextState.STOPPING) {
            client.endpoint.stop();
        }
        assertThat(client.endpoint.state()).isEqualTo(state);
        assertRefused(Status.BAD_STATE, () -> client.endpoint.setMaxMessageBytes(1));
        assertRefused(
                Status.BAD_STATE, () -> client.endpoint.setSendTasks(1, task -> {}, task -> {}));
        assertRefused(
                Status.BAD_STATE, () -> client.endpoint.setMessageCallback((from, bytes) -> {}));
        if (kept != null) {
            kept.free();
        }
        Peer.stop(card, client.endpoint);
        client.endpoint.setMaxMessageBytes(1);
        assertThat(client.endpoint.maxMessageBytes()).isEqualTo(1);
    }

    @Clause("cc-055")
    @Test
    void shouldRefuseChangesUnlessIdle() {
        Card.Pair pair = card.pair();
        ComchServer server = (ComchServer) pair.server().endpoint;
        ComchClient client = (ComchClient) pair.client().endpoint;
        assertRefused(Status.BAD_STATE, () -> server.setMaxMessageBytes(1));
        assertRefused(Status.BAD_STATE, () -> server.setReceiveQueueSize(1));
        assertRefused(Status.BAD_STATE, () -> server.setMaxClients(1));
        assertRefused(Status.BAD_STATE, () -> server.setControlTimeout(Duration.ofNanos(1)));
        assertRefused(Status.BAD_STATE, () -> server.setSendTasks(1, task -> {}, task -> {}));
        assertRefused(Status.BAD_STATE, () -> server.setMessageCallback((from, message) -> {}));
        assertRefused(Status.BAD_STATE, () -> server.setConnectedCallback(c -> {}));
        assertRefused(Status.BAD_STATE, () -> server.setRefusedCallback(null));
        assertRefused(Status.BAD_STATE, () -> server.setDisconnectedCallback(null));
        assertRefused(
                Status.BAD_STATE, () -> server.setConsumerCallbacks((c, id) -> {}, (c, id) -> {}));
        assertRefused(Status.BAD_STATE, () -> client.setConnectTimeout(Duration.ofNanos(1)));
        assertRefused(Status.BAD_STATE, () -> client.setStateChangedCallback(null));
        Queue.Receiving receiving =
                new Queue.Receiving(pair.server(), card.dpuEngine, 4096, 1).run(card);
        Queue.Sending sending =
                new Queue.Sending(pair.client(), card.hostEngine, 4096, 1).run(card);
        assertRefused(
                Status.BAD_STATE,
                () -> receiving.consumer.setPostReceiveTasks(1, task -> {}, task -> {}));
        assertRefused(
                Status.BAD_STATE, () -> sending.producer.setSendTasks(1, task -> {}, task -> {}));
        Peer.stop(card, sending.producer);
        sending.producer.setSendTasks(1, task -> {}, task -> {});
    }

    @Clause({"cc-063", "cc-064", "cc-065"})
    @Test
    void shouldNeedCallbacksForTheFastPath() {
        Card.Pair pair = card.pair();
        Card.Memory memory = card.memory(card.p0, 4096);
        ComchConsumer consumer =
                card.keep(ComchConsumer.create(pair.server().connection, memory.mmap()));
        ComchProducer producer = card.keep(ComchProducer.create(pair.server().connection));
        card.dpuEngine.connect(consumer);
        card.dpuEngine.connect(producer);
        assertRefused(Status.BAD_STATE, consumer::start).hasMessageContaining("post receive tasks");
        assertRefused(Status.BAD_STATE, producer::start).hasMessageContaining("send tasks");
        assertRefused(
                Status.INVALID_VALUE, () -> consumer.setPostReceiveTasks(1, null, task -> {}));
        assertRefused(
                Status.INVALID_VALUE, () -> consumer.setPostReceiveTasks(1, task -> {}, null));
        assertRefused(Status.INVALID_VALUE, () -> producer.setSendTasks(1, null, task -> {}));
        assertRefused(Status.INVALID_VALUE, () -> producer.setSendTasks(1, task -> {}, null));
        assertRefused(Status.BAD_STATE, consumer::start);
        assertRefused(Status.BAD_STATE, producer::start);

        ComchServer server = card.keep(ComchServer.create(card.p0, card.hpf0, "basic only"));
        ComchConnection[] connected = new ComchConnection[1];
        server.setSendTasks(1, task -> {}, task -> {});
        server.setMessageCallback((from, message) -> {});
        server.setConnectedCallback(c -> connected[0] = c);
        card.dpuEngine.connect(server);
        server.start();
        Peer client = Peer.client(card, "basic only");
        client.endpoint.start();
        card.until("connected", () -> connected[0] != null);
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        assertRefused(Status.BAD_STATE, () -> ComchProducer.create(connected[0]))
                .hasMessageContaining("consumer callbacks");
        assertRefused(Status.BAD_STATE, () -> ComchConsumer.create(connected[0], memory.mmap()));
        Queue.Receiving refused = new Queue.Receiving(client, card.hostEngine, 4096, 1).run(card);
        card.until("refused", () -> refused.consumer.state() == ContextState.IDLE);
        assertThat(refused.consumer.failure().status()).isEqualTo(Status.NOT_SUPPORTED);
        assertThat(refused.consumer.failure())
                .hasMessageContainingAll(
                        "peer refused the consumer: id=",
                        "expected=acceptStreams or setConsumerCallbacks at the peer");
        Peer.stop(card, server);
    }

    @Clause({"cc-062", "cc-104"})
    @Test
    void shouldNeedPciReadWriteMemoryForConsumer() {
        Card.Pair pair = card.pair();
        ComchConnection connection = pair.server().connection;
        for (Permissions lacking :
                new Permissions[] {
                    Permissions.LOCAL_READ_WRITE,
                    Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_ONLY),
                    Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.RDMA_WRITE)
                }) {
            Card.Memory memory = card.memory(card.p0, 4096, lacking);
            assertRefused(
                    Status.NOT_PERMITTED, () -> ComchConsumer.create(connection, memory.mmap()));
        }
        Card.Memory otherDevice = card.memory(card.pf0, 4096);
        assertRefused(
                Status.NOT_PERMITTED, () -> ComchConsumer.create(connection, otherDevice.mmap()));
        Mmap imported =
                card.keep(Mmap.createFromExport(otherDevice.mmap().exportPci(card.pf0), card.p0));
        assertRefused(Status.NOT_SUPPORTED, () -> ComchConsumer.create(connection, imported));
        Mmap notStarted = card.keep(Mmap.create());
        assertRefused(Status.BAD_STATE, () -> ComchConsumer.create(connection, notStarted));
        Mmap heap = card.keep(Mmap.create());
        assertRefused(
                Status.NOT_SUPPORTED,
                () -> {
                    heap.setMemory(MemorySegment.ofArray(new long[512]))
                            .setPermissions(
                                    Permissions.of(
                                            AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE))
                            .addDevice(card.p0)
                            .start();
                    ComchConsumer consumer = card.keep(ComchConsumer.create(connection, heap));
                    card.dpuEngine.connect(consumer);
                    consumer.setPostReceiveTasks(1, task -> {}, task -> {});
                    consumer.start();
                });
    }

    @Clause({"cc-023", "cc-037"})
    @Test
    void shouldCreateProducerAndConsumerOnEstablishedConnectionOnly() {
        Card.Pair pair = card.pair();
        Card.Memory memory = card.memory(card.p0, 4096);
        ComchConnection connection = pair.server().connection;
        ComchProducer early = card.keep(ComchProducer.create(connection));
        early.setSendTasks(1, task -> {}, task -> {});
        card.dpuEngine.connect(early);
        assertThat(early.connection()).isSameAs(connection);
        ComchConsumer consumer = card.keep(ComchConsumer.create(connection, memory.mmap()));
        assertThat(consumer.connection()).isSameAs(connection);
        assertRefused(Status.INVALID_VALUE, () -> ComchProducer.create(null));
        assertRefused(Status.INVALID_VALUE, () -> ComchConsumer.create(null, memory.mmap()));
        Peer.stop(card, pair.client().endpoint);
        card.until("told", () -> pair.server().events.contains("disconnected true"));
        assertRefused(Status.NOT_CONNECTED, () -> ComchProducer.create(connection));
        assertRefused(Status.NOT_CONNECTED, () -> ComchConsumer.create(connection, memory.mmap()));
        assertRefused(Status.NOT_CONNECTED, early::start);
    }

    @Clause({"cc-149", "cc-151"})
    @Test
    void shouldBeContextsThatBeginInIdleAndCanBeClosedThere() {
        Card.Pair pair = card.pair();
        Card.Memory memory = card.memory(card.p0, 4096);
        Context[] contexts = {
            ComchServer.create(card.p0, card.hpf0, "another"),
            ComchClient.create(card.pf0, "another"),
            ComchProducer.create(pair.server().connection),
            ComchConsumer.create(pair.server().connection, memory.mmap())
        };
        for (Context context : contexts) {
            assertThat(context.state()).isEqualTo(ContextState.IDLE);
            assertThat(context.toString()).startsWith("comch ");
            context.close();
            assertRefused(Status.BAD_STATE, context::start);
        }
    }

    @Test
    void shouldHoldDeviceAndRepresentorOpenWhileItIsStarted() {
        Card.Pair pair = card.pair();
        assertRefused(Status.IN_USE, card.hpf0::close).hasMessageContaining("comch server");
        assertRefused(Status.IN_USE, card.pf0::close).hasMessageContaining("comch client");
        Peer.stop(card, pair.client().endpoint);
        card.pf0.close();
        assertRefused(Status.BAD_STATE, pair.client().endpoint::start)
                .hasMessageContainingAll("device=" + card.pf0, "user=" + pair.client().endpoint);
    }

    /** The receive memory may be stopped between the creation of a consumer and its start. */
    @Test
    void shouldNeedItsReceiveMemoryAtItsStart() {
        Card.Pair pair = card.pair();
        Card.Memory memory = card.memory(card.p0, 4096);
        ComchConsumer consumer =
                card.keep(ComchConsumer.create(pair.server().connection, memory.mmap()))
                        .setPostReceiveTasks(1, task -> {}, task -> {});
        card.dpuEngine.connect(consumer);
        assertThat(memory.mmap().users()).isZero();
        memory.mmap().stop();
        assertRefused(Status.BAD_STATE, consumer::start)
                .hasMessageContainingAll("mmap is not started", "context=" + consumer);
        memory.mmap().setPermissions(Permissions.LOCAL_READ_WRITE).start();
        assertRefused(Status.NOT_PERMITTED, consumer::start).hasMessageContaining("PCI_READ_WRITE");
        memory.mmap().close();
        assertRefused(Status.BAD_STATE, consumer::start).hasMessageContaining("context=");
    }

    /** A server whose name is taken has given everything back. */
    @Test
    void shouldGiveBackWhatAFailedStartHasTaken() {
        Card.Pair pair = card.pair();
        ComchServer second =
                card.keep(
                                ComchServer.create(
                                        card.p0, card.hpf0, pair.server().endpoint.serverName()))
                        .setSendTasks(1, task -> {}, task -> {})
                        .setMessageCallback((from, message) -> {})
                        .setConnectedCallback(on -> {});
        card.dpuEngine.connect(second);
        for (int i = 0; i < 3; i++) {
            assertRefused(Status.IN_USE, second::start);
        }
        Peer.stop(card, pair.client().endpoint);
        Peer.stop(card, pair.server().endpoint);
        card.hpf0.close();
    }

    private static void refusesBeyond(int maximum, Consumer<Integer> setter) {
        assertRefused(Status.INVALID_VALUE, () -> setter.accept(maximum + 1));
        assertRefused(Status.INVALID_VALUE, () -> setter.accept(0));
        assertRefused(Status.INVALID_VALUE, () -> setter.accept(-1));
    }
}
