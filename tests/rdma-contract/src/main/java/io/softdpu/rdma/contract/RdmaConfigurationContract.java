package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.rdma.RdmaTaskType;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Properties and capabilities of an instance, over every provider. */
public abstract class RdmaConfigurationContract extends RdmaContract {
    /** Types of tasks that each provider supports. */
    private static final Set<RdmaTaskType> SUPPORTED_TYPES = EnumSet.allOf(RdmaTaskType.class);

    private static final Duration CONNECT_TIMEOUT = Patience.LIMIT.plusNanos(1);

    /** For subclasses. */
    protected RdmaConfigurationContract() {}

    @Test
    @Clause({"rdma-016", "rdma-187"})
    void shouldRefuseToStartWithNothingConfigured() {
        try (Machine machine = environment().openMachine(folder(), environment().nearSide());
                Device device =
                        machine.findDevice(environment().device(environment().nearSide())).open();
                ProgressEngine engine = ProgressEngine.create();
                Rdma rdma = Rdma.create(device)) {
            engine.connect(rdma);
            assertThatThrownBy(rdma::start)
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.BAD_STATE))
                    .hasMessageContaining("task type");
            assertThat(rdma.state()).isEqualTo(ContextState.IDLE);
        }
    }

    @Test
    @Clause({"rdma-016", "rdma-242"})
    void shouldRunWithAStateCallbackAsItsOnlyEvent() {
        Peer near = openNear();
        try (Machine machine = environment().openMachine(folder(), environment().farSide());
                Device device =
                        machine.findDevice(environment().device(environment().farSide())).open();
                ProgressEngine engine = ProgressEngine.create();
                Rdma responder = Rdma.create(device);
                SharedMemory memory = SharedMemory.allocate(4096);
                Mmap exported = Mmap.create()) {
            memory.segment().fill((byte) 5);
            exported.setMemory(memory).setPermissions(Peer.ALL).addDevice(device).start();
            responder.setPermissions(Permissions.of(AccessFlag.RDMA_READ));
            responder.setStateChangedCallback((context, previous, next) -> {});
            engine.connect(responder);
            near.start();
            responder.start();
            var here = near.rdma.exportConnection();
            var there = responder.exportConnection();
            near.rdma.connect(there.blob(), here);
            responder.connect(here.blob(), there);
            Peer.drive(
                    "the responder runs",
                    () -> {
                        engine.progress();
                        return responder.state() == ContextState.RUNNING;
                    },
                    near);
            Peer.drive("connection", () -> here.state() == RdmaConnection.State.CONNECTED, near);
            Mmap remote = near.importRdma(exported.exportRdma(device));
            near.read(here, near.inventory.bufByData(remote, 0, 64), near.room(0, 64), 1);
            Peer.drive(
                    "the read",
                    () -> {
                        engine.progress();
                        return !near.outcomes.isEmpty();
                    },
                    near);
            assertThat(near.outcomes.remove().status()).isEqualTo(Status.SUCCESS);
            assertThat(near.bytes.get(ValueLayout.JAVA_BYTE, 63)).isEqualTo((byte) 5);
            assertThat(responder.state()).as("runs on").isEqualTo(ContextState.RUNNING);
            responder.stop();
            Await.byStep("idle", () -> responder.state() == ContextState.IDLE, engine::progress);
        }
    }

    @Test
    @Clause({"rdma-037", "rdma-039"})
    void shouldHaveDefaults() {
        try (Machine machine = environment().openMachine(folder(), environment().nearSide());
                Device device =
                        machine.findDevice(environment().device(environment().nearSide())).open();
                Rdma rdma = Rdma.create(device)) {
            assertThat(rdma.sendQueueSize()).isEqualTo(Rdma.DEFAULT_SEND_QUEUE_SIZE);
            assertThat(rdma.maxConnections()).isEqualTo(1);
            assertThat(rdma.rnrRetries()).isEqualTo(6);
            assertThat(rdma.rnrTimer()).isEqualTo(Duration.ofNanos(327_680_000));
            assertThat(rdma.connectTimeout()).isEqualTo(Rdma.DEFAULT_CONNECT_TIMEOUT);
            assertThat(rdma.permissions().allowsRdma()).as("grants nothing").isFalse();
        }
    }

    @Test
    @Clause({"rdma-037", "rdma-263"})
    void shouldKeepToTheDefaults() {
        Peer far = openFar();
        far.start();
        try (Machine machine = environment().openMachine(folder(), environment().nearSide());
                Device device =
                        machine.findDevice(environment().device(environment().nearSide())).open();
                ProgressEngine engine = ProgressEngine.create();
                Rdma rdma = Rdma.create(device)) {
            List<Status> sent = new ArrayList<>();
            rdma.setSendTasks(
                    Rdma.DEFAULT_SEND_QUEUE_SIZE + 1,
                    task -> end(task, sent),
                    task -> end(task, sent));
            engine.connect(rdma);
            rdma.start();
            RdmaConnection toFar = rdma.exportConnection();
            RdmaConnection toNear = far.rdma.exportConnection();
            assertThat(Refusals.statusOf(rdma::exportConnection))
                    .as("one connection")
                    .isEqualTo(Status.FULL);
            rdma.connect(toNear.blob(), toFar);
            far.rdma.connect(toFar.blob(), toNear);
            Runnable progress =
                    () -> {
                        engine.progress();
                        far.engine.progress();
                    };
            Await.byStep(
                    "connection",
                    () ->
                            toFar.state() == RdmaConnection.State.CONNECTED
                                    && toNear.state() == RdmaConnection.State.CONNECTED,
                    progress);
            assertNothingGranted(far, toNear, device);
            long begin = System.nanoTime();
            for (int i = 0; i < Rdma.DEFAULT_SEND_QUEUE_SIZE; i++) {
                rdma.allocateSend(toFar, null).submit();
            }
            RdmaSendTask oneMore = rdma.allocateSend(toFar, null);
            assertThat(oneMore.trySubmit()).as("a full queue").isEqualTo(Status.AGAIN);
            oneMore.free();
            Await.byStep(
                    "idle",
                    () -> rdma.state() == ContextState.IDLE,
                    () -> {
                        progress.run();
                        engine.await(Duration.ofMillis(10));
                    });
            assertThat(System.nanoTime() - begin)
                    .as("6 retries of 327.68 ms")
                    .isGreaterThanOrEqualTo(6 * 327_680_000L);
            assertThat(sent).hasSize(Rdma.DEFAULT_SEND_QUEUE_SIZE).startsWith(Status.IO_FAILED);
            assertThat(toFar.failureReason()).contains("the retries are exhausted");
        }
    }

    private static void end(RdmaSendTask task, List<Status> statuses) {
        statuses.add(task.status());
        task.free();
    }

    private static void assertNothingGranted(Peer far, RdmaConnection toNear, Device device) {
        try (SharedMemory memory = SharedMemory.allocate(4096);
                Mmap mmap = Mmap.create()) {
            mmap.setMemory(memory).setPermissions(Peer.ALL).addDevice(device).start();
            Mmap remote = far.importRdma(mmap.exportRdma(device));
            assertThat(far.read(toNear, far.inventory.bufByData(remote, 0, 8), far.room(0, 8), 1))
                    .isEqualTo(Status.NOT_PERMITTED);
            assertThat(
                            far.write(
                                    toNear,
                                    far.data(0, 8),
                                    far.inventory.bufByAddress(remote, 0, 8),
                                    2))
                    .isEqualTo(Status.NOT_PERMITTED);
        }
    }

    @Test
    @Clause({"rdma-038", "rdma-039"})
    void shouldTakeThePropertiesThatWereSetAndKeepToThem() {
        Permissions readable = Permissions.of(AccessFlag.RDMA_READ);
        Peer near =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().nearSide(),
                                Peer.ALL,
                                rdma ->
                                        rdma.setSendQueueSize(4)
                                                .setMaxConnections(2)
                                                .setRnrRetries(1)
                                                .setConnectTimeout(CONNECT_TIMEOUT)
                                                .setPermissions(readable)));
        assertProperties(near.rdma, readable);

        Peer far = openFar();
        Pair pair = connect(near, far);
        assertProperties(near.rdma, readable);
        near.rdma.exportConnection();
        assertThat(Refusals.statusOf(near.rdma::exportConnection))
                .as("two connections")
                .isEqualTo(Status.FULL);
        Mmap remote = far.importRdma(near);
        assertThat(
                        far.write(
                                pair.toNear(),
                                far.data(0, 8),
                                far.inventory.bufByAddress(remote, 0, 8),
                                1))
                .as("readable, not writable")
                .isEqualTo(Status.NOT_PERMITTED);
        for (int i = 0; i < 4; i++) {
            assertThat(near.send(pair.toFar(), near.data(0, 8), i)).isEqualTo(Status.SUCCESS);
        }
        assertThat(near.send(pair.toFar(), near.data(0, 8), 4))
                .as("a queue of four")
                .isEqualTo(Status.AGAIN);
        assertThat(near.next(far).status()).as("after the last retry").isEqualTo(Status.IO_FAILED);
    }

    private static void assertProperties(Rdma rdma, Permissions permissions) {
        assertThat(rdma.sendQueueSize()).isEqualTo(4);
        assertThat(rdma.maxConnections()).isEqualTo(2);
        assertThat(rdma.rnrRetries()).isEqualTo(1);
        assertThat(rdma.connectTimeout()).isEqualTo(CONNECT_TIMEOUT);
        assertThat(rdma.permissions()).isEqualTo(permissions);
    }

    @Test
    void shouldRoundTheSendQueueUpToAPowerOfTwo() {
        Peer near = openNear();

        assertThat(near.rdma.setSendQueueSize(1).sendQueueSize()).isEqualTo(1);
        assertThat(near.rdma.setSendQueueSize(3).sendQueueSize()).isEqualTo(4);
        assertThat(near.rdma.setSendQueueSize(64).sendQueueSize()).isEqualTo(64);
        assertThat(near.rdma.setSendQueueSize(65).sendQueueSize()).isEqualTo(128);
    }

    @Test
    @Clause("rdma-041")
    void shouldRefuseValuesBeyondWhatTheCapabilitiesSay() {
        Peer near = openNear();
        Rdma rdma = near.rdma;
        RdmaCapabilities can = RdmaCapabilities.of(near.device.info());

        for (Runnable call :
                List.<Runnable>of(
                        () -> rdma.setSendQueueSize(0),
                        () -> rdma.setSendQueueSize(can.maxSendQueueSize() + 1),
                        () -> rdma.setMaxConnections(0),
                        () -> rdma.setMaxConnections(can.maxConnections() + 1),
                        () -> rdma.setRnrRetries(-1),
                        () -> rdma.setRnrRetries(8),
                        () -> rdma.setConnectTimeout(Duration.ZERO),
                        () -> rdma.setSendTasks(0, task -> {}, task -> {}),
                        () -> rdma.setSendTasks(Integer.MAX_VALUE, task -> {}, task -> {}),
                        () -> rdma.setReadTasks(Integer.MAX_VALUE, task -> {}, task -> {}),
                        () -> rdma.setWriteTasks(Integer.MAX_VALUE, task -> {}, task -> {}),
                        () ->
                                rdma.setReceiveTasks(
                                        can.maxReceiveTasks() + 1, task -> {}, task -> {}),
                        () -> rdma.setPermissions(Permissions.of(AccessFlag.PCI_READ_ONLY)),
                        () -> rdma.setPermissions(Permissions.of(AccessFlag.PCI_READ_WRITE)))) {
            assertThat(Refusals.statusOf(call)).isEqualTo(Status.INVALID_VALUE);
        }
        assertThat(rdma.setSendQueueSize(can.maxSendQueueSize()).sendQueueSize())
                .isEqualTo(can.maxSendQueueSize());
        assertThat(rdma.setMaxConnections(can.maxConnections()).maxConnections())
                .isEqualTo(can.maxConnections());
        assertThat(rdma.setRnrRetries(0).rnrRetries()).isZero();
        assertThat(rdma.setRnrRetries(Rdma.RNR_RETRIES_UNLIMITED).rnrRetries())
                .isEqualTo(Rdma.RNR_RETRIES_UNLIMITED);
        rdma.setReceiveTasks(can.maxReceiveTasks(), task -> {}, task -> {});
    }

    @Test
    @Clause({"rdma-042", "rdma-044"})
    void shouldTellWhatEachDeviceCanDo() {
        for (Side side : Side.values()) {
            try (Machine machine = environment().openMachine(folder(), side)) {
                assertThat(machine.devices()).isNotEmpty();
                machine.devices().forEach(RdmaConfigurationContract::assertUsable);
            }
        }
    }

    private static void assertUsable(DeviceInfo info) {
        RdmaCapabilities can = RdmaCapabilities.of(info);
        assertThat(can.isSupported()).as("%s", info).isTrue();
        assertThat(can.maxMessageBytes()).isBetween(1L << 20, 1L << 31);
        assertThat(can.maxSendQueueSize()).isPositive();
        assertThat(can.maxConnections()).isPositive();
        assertThat(can.maxReceiveTasks()).isPositive();
        assertThat(can.providers()).isNotEmpty();
        try (Device device = info.open();
                Rdma rdma = Rdma.create(device)) {
            assertThat(rdma.state()).isEqualTo(ContextState.IDLE);
        }
    }

    @Test
    @Clause("rdma-043")
    void shouldAnswerForEachTypeOfTasks() {
        try (Machine machine = environment().openMachine(folder(), environment().nearSide())) {
            assertThat(RdmaTaskType.values()).hasSize(11);
            for (var info : machine.devices()) {
                RdmaCapabilities can = RdmaCapabilities.of(info);
                Capabilities uniform = Capabilities.of(info, "rdma");
                for (RdmaTaskType type : RdmaTaskType.values()) {
                    assertThat(uniform.isSupported("task_" + type.name().toLowerCase(Locale.ROOT)))
                            .as(type.name())
                            .isEqualTo(can.isSupported(type))
                            .isEqualTo(SUPPORTED_TYPES.contains(type));
                }
            }
        }
    }

    @Test
    @Clause({"rdma-059", "rdma-076"})
    void shouldTellThatMessagesAreSupportedWhereTheyAre() {
        Pair pair = connected();
        assertSupported(pair, RdmaTaskType.RECEIVE, RdmaTaskType.SEND);
        pair.far().receive(pair.far().room(0, 8), 1);
        pair.near().send(pair.toFar(), pair.near().data(0, 8), 2);
        assertThat(pair.far().next(pair.near()).status()).isEqualTo(Status.SUCCESS);
        assertThat(pair.near().next(pair.far()).status()).isEqualTo(Status.SUCCESS);
    }

    @Test
    @Clause({"rdma-100", "rdma-112"})
    void shouldTellThatReadsAndWritesAreSupportedWhereTheyAre() {
        Pair pair = connected();
        assertSupported(pair, RdmaTaskType.READ, RdmaTaskType.WRITE);
        Peer near = pair.near();
        Mmap remote = near.importRdma(pair.far());
        near.read(pair.toFar(), near.inventory.bufByData(remote, 0, 8), near.room(0, 8), 1);
        assertThat(near.next(pair.far()).status()).isEqualTo(Status.SUCCESS);
        near.write(pair.toFar(), near.data(0, 8), near.inventory.bufByAddress(remote, 0, 8), 2);
        assertThat(near.next(pair.far()).status()).isEqualTo(Status.SUCCESS);
    }

    private static void assertSupported(Pair pair, RdmaTaskType... types) {
        for (Peer peer : List.of(pair.near(), pair.far())) {
            for (RdmaTaskType type : types) {
                assertThat(RdmaCapabilities.of(peer.device.info()).isSupported(type))
                        .as("%s of %s", type, peer.device)
                        .isTrue();
            }
        }
    }
}
