package io.softdpu.storage.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchConsumer;
import io.softdpu.comch.wire.ChannelTerms;
import io.softdpu.comch.wire.Hello;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.ring.MessageRing;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.worker.MessageMemory;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Clause("sto-005")
class ComchControlChannelTest extends ControlChannelContract {
    private static final String NAME = "contract";
    private static final long FIRST_SLOT_OFFSET = 1024;
    private static final long STAMP_OFFSET = FIRST_SLOT_OFFSET + 16;

    @TempDir private static Path folder;
    private static Machine host;
    private static Machine dpu;
    private static Device hostDevice;
    private static Device dpuDevice;
    private static Representor representor;

    @BeforeAll
    static void openMachines() {
        host = Machine.builder(Side.HOST).fabricFolder(folder).open();
        dpu = Machine.builder(Side.DPU).fabricFolder(folder).open();
        hostDevice = host.findDevice("pf0").open();
        dpuDevice = dpu.findDevice("p0").open();
        representor = dpuDevice.findRepresentor("0b:00.0").open();
    }

    @AfterAll
    static void closeMachines() {
        representor.close();
        hostDevice.close();
        dpuDevice.close();
        host.close();
        dpu.close();
    }

    @Override
    ChannelEnd openServer() {
        AtomicReference<ProgressEngine> engine = new AtomicReference<>();
        return new ChannelEnd(
                "server",
                () -> {
                    engine.set(ProgressEngine.create());
                    return makeServer(engine.get());
                },
                () -> engine.get().close());
    }

    @Override
    ChannelEnd openClient(long timeoutNanos) {
        AtomicReference<ProgressEngine> engine = new AtomicReference<>();
        return new ChannelEnd(
                "client",
                () -> {
                    engine.set(ProgressEngine.create());
                    return makeClient(engine.get(), NAME, timeoutNanos);
                },
                () -> engine.get().close());
    }

    @Override
    Status statusOfSecondClient() {
        try (ProgressEngine engine = ProgressEngine.create();
                ComchClientControlChannel second = makeClient(engine, NAME, Patience.NANOS)) {
            second.awaitConnected(Patience.LIMIT.multipliedBy(2));
            return Status.SUCCESS;
        } catch (DpuException e) {
            return e.status();
        }
    }

    @Test
    void shouldSayThatNobodyServesThatName() {
        try (ProgressEngine engine = ProgressEngine.create();
                ComchClientControlChannel client = makeClient(engine, "nobody", 200_000_000L)) {
            assertStatus(() -> client.awaitConnected(Patience.LIMIT), Status.NOT_FOUND, "nobody");
        }
    }

    @Test
    void shouldEndTheSearchForAServerWhenItIsAborted() {
        try (ProgressEngine engine = ProgressEngine.create();
                ComchClientControlChannel client = makeClient(engine, "nobody", Patience.NANOS)) {
            client.abort("User requested abort");

            assertStatus(
                    () -> client.awaitConnected(Deadline.NO_LIMIT),
                    Status.CONNECTION_ABORTED,
                    "User requested abort");
        }
    }

    @Test
    void shouldSayThatTheNameIsTaken() {
        try (ProgressEngine engine = ProgressEngine.create()) {
            assertStatus(() -> makeServer(engine), Status.IN_USE, NAME);
        }
    }

    @ParameterizedTest
    @EnumSource
    @Clause("sto-051")
    void shouldTellOfConsumersThatComeAndGo(Which listening) {
        List<String> heard = Collections.synchronizedList(new ArrayList<>());
        ConsumerListener listener =
                new ConsumerListener() {
                    @Override
                    public void consumerAdded(int consumerId) {
                        heard.add("+" + consumerId);
                    }

                    @Override
                    public void consumerExpired(int consumerId) {
                        heard.add("-" + consumerId);
                    }
                };
        ConsumerListener none = ConsumerListener.none();
        boolean server = listening == Which.SERVER;
        try (ProgressEngine engine = ProgressEngine.create();
                MessageMemory memory =
                        new MessageMemory(
                                server ? hostDevice : dpuDevice,
                                4,
                                Permissions.of(
                                        AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE));
                ComchServerControlChannel atServer =
                        ControlChannels.makeComchServer(
                                engine,
                                dpuDevice,
                                representor,
                                "heard",
                                server ? listener : none,
                                Patience.LIMIT);
                ComchClientControlChannel atClient =
                        ControlChannels.makeComchClient(
                                engine,
                                hostDevice,
                                "heard",
                                server ? none : listener,
                                Duration.ofSeconds(Long.MAX_VALUE))) {
            atClient.awaitConnected(Patience.LIMIT);
            atServer.awaitConnected(Patience.LIMIT);
            ComchControlChannel other = server ? atClient : atServer;
            ComchConsumer first = startConsumer(engine, other.connection(), memory);
            assertThat(heard).containsExactly("+" + first.id());
            ComchConsumer second = startConsumer(engine, other.connection(), memory);
            assertThat(heard).containsExactly("+" + first.id(), "+" + second.id());
            heard.clear();

            for (ComchConsumer consumer : List.of(first, second)) {
                int id = consumer.id();
                consumer.stop();
                awaitState(engine, consumer, ContextState.IDLE);
                consumer.close();
                assertThat(heard).containsExactly("-" + id);
                heard.clear();
            }
        }
    }

    private static ComchConsumer startConsumer(
            ProgressEngine engine, ComchConnection connection, MessageMemory memory) {
        ComchConsumer consumer = ComchConsumer.create(connection, memory.mmap());
        consumer.setPostReceiveTasks(1, _ -> {}, _ -> {});
        engine.connect(consumer);
        consumer.start();
        awaitState(engine, consumer, ContextState.RUNNING);
        return consumer;
    }

    @Test
    @Clause("sto-057")
    void shouldServeNoFurtherClientAfterTheFirstHasEnded() {
        try (ProgressEngine engine = ProgressEngine.create();
                ComchServerControlChannel server = makeServer(engine, "once")) {
            try (ComchClientControlChannel first = makeClient(engine, "once", Patience.NANOS)) {
                first.awaitConnected(Patience.LIMIT);
                server.awaitConnected(Patience.LIMIT);
            }
            ComchConnection only = server.connection();
            assertStatus(server::poll, Status.CONNECTION_RESET, "peer has ended");
            try (ComchClientControlChannel further = makeClient(engine, "once", Patience.NANOS)) {
                assertStatus(
                        () -> further.receive(Patience.LIMIT),
                        Status.CONNECTION_RESET,
                        "ended"); // before or after it was connected
            }
            assertThat(server.connection()).isSameAs(only);
            assertThat(server.isConnected()).isFalse();
        }
    }

    @Test
    void shouldRunNoWorkOfTheEngineInASend() {
        try (ProgressEngine engine = ProgressEngine.create();
                ComchServerControlChannel server = makeServer(engine, "quiet");
                ComchClientControlChannel client = makeClient(engine, "quiet", Patience.NANOS)) {
            client.awaitConnected(Patience.LIMIT);
            server.awaitConnected(Patience.LIMIT);
            ControlMessage query =
                    new ControlMessage(1, 1, new ControlPayload.QueryStorageRequest());
            AtomicReference<Boolean> ran = new AtomicReference<>(false);
            engine.execute(() -> ran.set(true));

            client.send(query);
            client.sendFinalError(ControlPayload.ErrorResponse.of(Status.DRIVER, "the end"));
            assertThat(ran.get()).as("progressed by a send").isFalse();

            assertThat(server.receive(Patience.LIMIT)).isEqualTo(query);
            assertThat(ran.get()).isTrue();
            assertThat(server.receive(Patience.LIMIT).type())
                    .isEqualTo(ControlMessageType.ERROR_RESPONSE);
        }
    }

    @Test
    void shouldNameTheBrokenWordOfTheRingWhereASendIsInFlight() throws Exception {
        int illegal = 1 << 30;
        try (ProgressEngine engine = ProgressEngine.create();
                ComchServerControlChannel listening = makeServer(engine, "broken");
                Bus bus = openBus()) {
            ChannelTerms terms = ChannelTerms.of(listening.endpoint().maxMessageBytes(), 64);
            SharedSegment inbound = SharedSegment.allocate("rogue", terms.ring().sizeBytes());
            var _ = MessageRing.consumer(inbound.segment(), terms.ring());
            CompletableFuture<Attachment> connecting =
                    bus.connect(
                                    "comch:p0:host/pf0:broken",
                                    new Hello(terms, "host/pf0", "broken").toBytes(),
                                    inbound,
                                    Patience.NANOS)
                            .future();
            listening.awaitConnected(Patience.LIMIT);
            Attachment rogue = connecting.get(Patience.SECONDS, TimeUnit.SECONDS);
            try {
                listening.send(new ControlMessage(1, 1, new ControlPayload.QueryStorageRequest()));
                assertThat(listening.unsent()).as("sent and not received").isEqualTo(1);
                MemorySegment ring = rogue.remote().segment();
                ring.set(ValueLayout.JAVA_INT, FIRST_SLOT_OFFSET, illegal);
                ring.set(ValueLayout.JAVA_LONG, STAMP_OFFSET, 1);
                rogue.link().ring();

                assertStatus(
                        () -> listening.receive(Patience.LIMIT),
                        Status.CONNECTION_RESET,
                        "peer has ended: peer=client of comch://broken, reason=peer violated the"
                                + " protocol: ring, slot length out of range: seen="
                                + illegal
                                + ", expected=0 to ");
            } finally {
                rogue.link().close();
                rogue.remote().release();
                inbound.release();
            }
        }
    }

    private static Bus openBus() {
        return Bus.open(
                new Bus.Config(
                        folder,
                        Topology.builtin().sha256(),
                        Topology.builtin().name(),
                        Patience.NANOS,
                        1L << 30,
                        Long.MAX_VALUE,
                        Long.MAX_VALUE));
    }

    private static void awaitState(
            ProgressEngine engine, ComchConsumer consumer, ContextState state) {
        Await.byStep(
                "consumer is in state " + state,
                () -> consumer.state() == state,
                () -> engine.await(Patience.LIMIT));
    }

    private static ComchServerControlChannel makeServer(ProgressEngine engine) {
        return makeServer(engine, NAME);
    }

    private static ComchServerControlChannel makeServer(ProgressEngine engine, String name) {
        return ControlChannels.makeComchServer(
                engine, dpuDevice, representor, name, ConsumerListener.none(), Patience.LIMIT);
    }

    private static ComchClientControlChannel makeClient(
            ProgressEngine engine, String name, long timeoutNanos) {
        return ControlChannels.makeComchClient(
                engine, hostDevice, name, ConsumerListener.none(), Duration.ofNanos(timeoutNanos));
    }
}
