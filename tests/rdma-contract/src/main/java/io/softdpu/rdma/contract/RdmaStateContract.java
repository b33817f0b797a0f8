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
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.rdma.RdmaTaskType;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Configuration, states and threads of an instance, over every provider. */
public abstract class RdmaStateContract extends RdmaContract {
    /** Types of tasks that a provider supports; the others are not built. */
    private static final Set<RdmaTaskType> BUILT_TYPES =
            Set.of(RdmaTaskType.RECEIVE, RdmaTaskType.SEND, RdmaTaskType.READ, RdmaTaskType.WRITE);

    /** For subclasses. */
    protected RdmaStateContract() {}

    // ---- configuration ----

    @Test
    @Clause("rdma-016")
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
                Rdma responder = Rdma.create(device)) {
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
            responder.stop();
            Await.byStep(
                    "idle",
                    Peer.DEADLINE_NANOS,
                    () -> responder.state() == ContextState.IDLE,
                    engine::progress);
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
            assertThat(rdma.rnrRetries()).isEqualTo(Rdma.RNR_RETRIES_UNLIMITED);
            assertThat(rdma.connectTimeoutNanos()).isEqualTo(Rdma.DEFAULT_CONNECT_TIMEOUT_NANOS);
            assertThat(rdma.permissions().allowsRdma()).as("grants nothing").isFalse();
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
                                                .setConnectTimeout(Peer.DEADLINE_NANOS)
                                                .setPermissions(readable)));
        assertThat(near.rdma.sendQueueSize()).isEqualTo(4);
        assertThat(near.rdma.maxConnections()).isEqualTo(2);
        assertThat(near.rdma.rnrRetries()).isEqualTo(1);
        assertThat(near.rdma.connectTimeoutNanos()).isEqualTo(Peer.DEADLINE_NANOS);
        assertThat(near.rdma.permissions()).isEqualTo(readable);

        Peer far = openFar();
        Pair pair = connect(near, far);
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
                        () -> rdma.setConnectTimeout(0),
                        () -> rdma.configureSendTasks(0, task -> {}, task -> {}),
                        () ->
                                rdma.configureReceiveTasks(
                                        can.maxReceiveTasks() + 1, task -> {}, task -> {}),
                        () -> rdma.setPermissions(Permissions.of(AccessFlag.PCI_READ_WRITE)))) {
            assertThat(Refusals.statusOf(call)).isEqualTo(Status.INVALID_VALUE);
        }
        assertThat(rdma.setSendQueueSize(can.maxSendQueueSize()).sendQueueSize())
                .isEqualTo(can.maxSendQueueSize());
    }

    @Test
    @Clause({"rdma-042", "rdma-044"})
    void shouldTellWhatEachDeviceCanDo() {
        for (Side side : List.of(environment().nearSide(), environment().farSide())) {
            try (Machine machine = environment().openMachine(folder(), side)) {
                assertThat(machine.devices()).isNotEmpty();
                machine.devices().forEach(RdmaStateContract::assertUsable);
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
                            .isEqualTo(BUILT_TYPES.contains(type));
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

    @Test
    void shouldTellThatListsOfSeveralBufsAreNotTaken() {
        try (Machine machine = environment().openMachine(folder(), environment().nearSide())) {
            for (var info : machine.devices()) {
                RdmaCapabilities can = RdmaCapabilities.of(info);
                Capabilities uniform = Capabilities.of(info, "rdma");
                assertThat(can.maxSendBufferListLength()).isEqualTo(1);
                assertThat(can.maxReceiveBufferListLength()).isEqualTo(1);
                assertThat(uniform.limit("max_send_list_length")).isEqualTo(1);
                assertThat(uniform.limit("max_receive_list_length")).isEqualTo(1);
            }
        }
    }

    @Test
    @Clause({"rdma-011", "rdma-179"})
    void shouldKeepItsDeviceOpen() {
        try (Machine machine = environment().openMachine(folder(), environment().nearSide());
                Device device =
                        machine.findDevice(environment().device(environment().nearSide())).open()) {
            try (Rdma rdma = Rdma.create(device)) {
                assertThat(rdma.state()).isEqualTo(ContextState.IDLE);
                assertThat(Refusals.statusOf(device::close)).isEqualTo(Status.IN_USE);
            }
        }
    }

    // ---- states ----

    @Test
    @Clause({"rdma-004", "rdma-178", "rdma-180"})
    void shouldGoThroughTheStatesOfTheCoreAndBeStartedAgain() {
        Peer near = openNear();
        Peer far = openFar();
        Context context = near.rdma;
        for (int round = 0; round < 2; round++) {
            near.states.clear();
            assertThat(context.state()).isEqualTo(ContextState.IDLE);
            connect(near, far);
            context.stop();
            Peer.drive("told", () -> near.states.contains(ContextState.IDLE), near, far);
            assertThat(near.states)
                    .containsExactly(
                            ContextState.STARTING,
                            ContextState.RUNNING,
                            ContextState.STOPPING,
                            ContextState.IDLE);
            far.stop();
        }
    }

    @Test
    @Clause("rdma-182")
    void shouldBeginInIdle() {
        assertThat(openNear().rdma.state()).isEqualTo(ContextState.IDLE);
    }

    @ParameterizedTest
    @EnumSource(
            value = ContextState.class,
            names = {"STARTING", "RUNNING", "STOPPING"})
    @Clause("rdma-181")
    void shouldRefuseConfigurationUnlessIdle(ContextState state) {
        Peer near = openNear();
        RdmaReceiveTask kept = null;
        if (state == ContextState.STARTING) {
            near.start();
        } else {
            connect(near, openFar());
            kept = near.rdma.allocateReceive(null);
        }
        if (state == ContextState.STOPPING) {
            near.rdma.stop();
        }
        assertThat(near.rdma.state()).isEqualTo(state);
        Rdma rdma = near.rdma;
        for (Runnable call :
                List.<Runnable>of(
                        () -> rdma.setSendQueueSize(8),
                        () -> rdma.setMaxConnections(2),
                        () -> rdma.setRnrRetries(1),
                        () -> rdma.setConnectTimeout(1),
                        () -> rdma.setPermissions(Permissions.LOCAL_READ_ONLY),
                        () -> rdma.setConnectionCallback(null),
                        () -> rdma.setStateChangedCallback(null),
                        () -> rdma.configureSendTasks(1, task -> {}, task -> {}),
                        () -> rdma.configureReceiveTasks(1, task -> {}, task -> {}),
                        () -> rdma.configureReadTasks(1, task -> {}, task -> {}),
                        () -> rdma.configureWriteTasks(1, task -> {}, task -> {}))) {
            assertThat(Refusals.statusOf(call)).isEqualTo(Status.BAD_STATE);
        }
        if (kept != null) {
            kept.free();
        }
        near.stop();
        assertThat(rdma.setSendQueueSize(8).sendQueueSize()).isEqualTo(8);
    }

    @Test
    @Clause("rdma-188")
    void shouldRefuseTasksBeforeRunning() {
        Peer near = openNear();
        assertThat(Refusals.statusOf(() -> near.rdma.allocateReceive(null)))
                .isEqualTo(Status.BAD_STATE);
        near.start();
        assertThat(Refusals.statusOf(() -> near.rdma.allocateReceive(null)))
                .isEqualTo(Status.BAD_STATE);
    }

    @Test
    @Clause({"rdma-060", "rdma-077"})
    void shouldHandOutAsManyMessageTasksAsConfigured() {
        Peer near =
                openConfigured(rdma -> {
                    rdma.configureSendTasks(2, task -> {}, task -> {});
                    rdma.configureReceiveTasks(3, task -> {}, task -> {});
                });
        Pair pair = connect(near, openFar());
        RdmaSendTask freed = near.rdma.allocateSend(pair.toFar(), null);
        freed.free();
        assertThat(Refusals.statusOf(freed::submit)).isEqualTo(Status.BAD_STATE);
        assertThatNoMoreThan(2, () -> near.rdma.allocateSend(pair.toFar(), null));
        assertThatNoMoreThan(3, () -> near.rdma.allocateReceive(null));
    }

    @Test
    @Clause({"rdma-101", "rdma-113"})
    void shouldHandOutAsManyReadAndWriteTasksAsConfigured() {
        Peer near =
                openConfigured(rdma -> {
                    rdma.configureReadTasks(2, task -> {}, task -> {});
                    rdma.configureWriteTasks(3, task -> {}, task -> {});
                });
        Pair pair = connect(near, openFar());
        Mmap remote = near.importRdma(pair.far());
        Buf here = near.data(0, 8);
        Buf there = near.inventory.bufByData(remote, 0, 8);
        assertThatNoMoreThan(2, () -> near.rdma.allocateRead(pair.toFar(), there, here));
        assertThatNoMoreThan(3, () -> near.rdma.allocateWrite(pair.toFar(), here, there));
        here.release();
        there.release();
    }

    /** Takes that many tasks, and gives them back. */
    private static void assertThatNoMoreThan(int count, Supplier<Task> allocate) {
        List<Task> tasks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            tasks.add(allocate.get());
        }
        assertThat(Refusals.statusOf(() -> tasks.add(allocate.get()))).isEqualTo(Status.NO_MEMORY);
        tasks.forEach(Task::free);
    }

    @Test
    @Clause({"rdma-058", "rdma-075"})
    void shouldCallTheCallbackThatFitsOfSendsAndReceives() {
        List<Task> succeeded = new ArrayList<>();
        List<Task> failed = new ArrayList<>();
        Peer near =
                openConfigured(rdma -> {
                    rdma.configureSendTasks(2, succeeded::add, failed::add);
                    rdma.configureReceiveTasks(2, succeeded::add, failed::add);
                });
        Pair pair = connect(near, openFar());
        Peer far = pair.far();
        Task send = near.rdma.allocateSend(pair.toFar(), null);
        Task receive = near.rdma.allocateReceive(null);
        far.receive(null, 1);
        send.submit();
        receive.submit();
        far.send(pair.toNear(), null, 2);
        Peer.drive("both", () -> succeeded.size() + failed.size() == 2, near, far);
        assertThat(succeeded).containsExactlyInAnyOrder(send, receive);

        succeeded.clear();
        send.submit(); // and nothing answers either
        receive.submit();
        near.rdma.stop();
        Peer.drive("both", () -> succeeded.size() + failed.size() == 2, near);
        assertThat(failed).containsExactlyInAnyOrder(send, receive);
        send.free();
        receive.free();
    }

    @Test
    @Clause({"rdma-099", "rdma-111"})
    void shouldCallTheCallbackThatFitsOfReadsAndWrites() {
        List<Task> succeeded = new ArrayList<>();
        List<Task> failed = new ArrayList<>();
        Peer near =
                openConfigured(rdma -> {
                    rdma.configureReadTasks(2, succeeded::add, failed::add);
                    rdma.configureWriteTasks(2, succeeded::add, failed::add);
                });
        Pair pair = connect(near, openFar());
        Mmap remote = near.importRdma(pair.far());
        List<Buf> bufs =
                List.of(
                        near.inventory.bufByData(remote, 0, 8),
                        near.room(0, 16),
                        near.data(100, 8),
                        near.inventory.bufByAddress(remote, 100, 16));
        Task read = near.rdma.allocateRead(pair.toFar(), bufs.get(0), bufs.get(1));
        Task write = near.rdma.allocateWrite(pair.toFar(), bufs.get(2), bufs.get(3));
        read.submit();
        write.submit();
        Peer.drive("both", () -> succeeded.size() + failed.size() == 2, near, pair.far());
        assertThat(succeeded).containsExactly(read, write);

        succeeded.clear();
        read.submit();
        write.submit();
        near.rdma.stop(); // before any progress
        Peer.drive("both", () -> succeeded.size() + failed.size() == 2, near);
        assertThat(failed).containsExactly(read, write);
        read.free();
        write.free();
        bufs.forEach(Buf::release);
    }

    private Peer openConfigured(Consumer<Rdma> configure) {
        return add(
                Peer.open(environment(), folder(), environment().nearSide(), Peer.ALL, configure));
    }

    @Test
    void shouldRefuseTasksOfTypesThatWereNotConfigured() {
        Peer near = openNear();
        try (Machine machine = environment().openMachine(folder(), environment().farSide());
                Device device =
                        machine.findDevice(environment().device(environment().farSide())).open();
                ProgressEngine engine = ProgressEngine.create();
                Rdma other = Rdma.create(device)) {
            other.configureSendTasks(1, task -> {}, task -> {});
            engine.connect(other);
            near.start();
            other.start();
            var here = near.rdma.exportConnection();
            var there = other.exportConnection();
            near.rdma.connect(there.blob(), here);
            other.connect(here.blob(), there);
            Peer.drive(
                    "the other runs",
                    () -> {
                        engine.progress();
                        return other.state() == ContextState.RUNNING;
                    },
                    near);
            assertThat(Refusals.statusOf(() -> other.allocateReceive(null)))
                    .isEqualTo(Status.BAD_STATE);
            other.stop();
            Await.byStep(
                    "idle",
                    Peer.DEADLINE_NANOS,
                    () -> other.state() == ContextState.IDLE,
                    engine::progress);
        }
    }

    @Test
    void shouldAnswerAgainWhenTheSendQueueIsFullAndTakeMoreLater() {
        Peer near =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().nearSide(),
                                Peer.ALL,
                                rdma -> rdma.setSendQueueSize(8)));
        Pair pair = connect(near, openFar());
        for (int i = 0; i < 8; i++) {
            assertThat(near.send(pair.toFar(), near.data(0, 8), i)).isEqualTo(Status.SUCCESS);
        }
        assertThat(near.send(pair.toFar(), near.data(0, 8), 8)).isEqualTo(Status.AGAIN);
        assertThat(near.rdma.inFlightTasks()).isEqualTo(8);

        pair.far().receive(pair.far().room(0, 8), 0);
        near.next(pair.far());
        assertThat(near.send(pair.toFar(), near.data(0, 8), 8)).isEqualTo(Status.SUCCESS);
    }

    @Test
    @Clause("rdma-183")
    void shouldBeIdleAtOnceWhenStoppedWithAllTasksFreed() {
        Pair pair = connected();

        assertThat(pair.near().rdma.stop()).isEqualTo(Status.SUCCESS);
        assertThat(pair.near().rdma.state()).isEqualTo(ContextState.IDLE);
        pair.near().engine.progress();
        assertThat(pair.near().states).endsWith(ContextState.STOPPING, ContextState.IDLE);
    }

    @Test
    @Clause({"rdma-190", "rdma-192"})
    void shouldFlushWhatIsInFlightWhenStopped() {
        Pair pair = connected();
        Peer near = pair.near();
        for (int i = 0; i < 3; i++) {
            near.receive(near.room(i * 64L, 64), i);
            near.send(pair.toFar(), near.data(1000 + i * 64L, 64), 10 + i);
        }
        assertThat(near.rdma.stop()).isEqualTo(Status.IN_PROGRESS);
        assertThat(near.rdma.state()).isEqualTo(ContextState.STOPPING);
        assertThat(near.outcomes).as("callbacks come in progress").isEmpty();
        near.engine.progress();
        assertThat(near.outcomes)
                .hasSize(6)
                .allMatch(outcome -> outcome.status() == Status.CONNECTION_ABORTED);
    }

    @Test
    @Clause({"rdma-184", "rdma-193"})
    void shouldStayInStoppingUntilCompletedTasksAreFreed() {
        List<Task> completed = new ArrayList<>();
        Peer near =
                openConfigured(
                        rdma -> rdma.configureReceiveTasks(2, completed::add, completed::add));
        connect(near, openFar());
        Task task = near.rdma.allocateReceive(null);
        task.submit();
        near.rdma.stop();
        near.engine.progress();
        assertThat(completed).containsExactly(task);
        for (int i = 0; i < 100; i++) {
            near.engine.progress();
        }
        assertThat(near.rdma.state()).as("a task is not freed").isEqualTo(ContextState.STOPPING);
        task.free();
        assertThat(near.rdma.state()).as("without progress").isEqualTo(ContextState.STOPPING);
        near.engine.progress();
        assertThat(near.rdma.state()).isEqualTo(ContextState.IDLE);
    }

    @Test
    @Clause("rdma-194")
    void shouldAllowNothingButProgressInStopping() {
        Pair pair = connected();
        Peer near = pair.near();
        byte[] blob = pair.toNear().blob();
        RdmaReceiveTask kept = near.rdma.allocateReceive(null);
        near.rdma.stop();
        near.engine.progress();
        assertThat(near.rdma.state()).isEqualTo(ContextState.STOPPING);
        assertThat(kept.trySubmit()).isEqualTo(Status.BAD_STATE);
        for (Runnable call :
                List.<Runnable>of(
                        () -> near.rdma.allocateReceive(null),
                        () -> near.rdma.allocateSend(pair.toFar(), null),
                        near.rdma::exportConnection,
                        () -> near.rdma.connect(blob, pair.toFar()),
                        near.rdma::start,
                        near.rdma::stop)) {
            assertThat(Refusals.statusOf(call)).isEqualTo(Status.BAD_STATE);
        }
        kept.free();
        near.engine.progress();
        assertThat(near.rdma.state()).isEqualTo(ContextState.IDLE);
    }

    @Test
    void shouldStopFromWithinACallback() {
        Peer near =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().nearSide(),
                                Peer.ALL,
                                rdma ->
                                        rdma.configureReceiveTasks(
                                                4,
                                                task -> {
                                                    task.free();
                                                    stopIfRunning(task.context());
                                                },
                                                task -> task.free())));
        Pair pair = connect(near, openFar());
        for (int i = 0; i < 3; i++) {
            near.rdma.allocateReceive(null).submit();
        }
        for (int i = 0; i < 3; i++) {
            pair.far().send(pair.toNear(), null, i);
        }

        Peer.drive("the end", () -> near.rdma.state() == ContextState.IDLE, near, pair.far());
        assertThat(near.rdma.inFlightTasks()).isZero();
    }

    @Test
    @Clause("rdma-188")
    void shouldTakeTasksFromWithinTheStateCallback() {
        List<Status> submitted = new ArrayList<>();
        Peer near =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().nearSide(),
                                Peer.ALL,
                                rdma ->
                                        rdma.setStateChangedCallback((context, previous, next) -> {
                                            if (next == ContextState.RUNNING) {
                                                var task = rdma.allocateReceive(null);
                                                submitted.add(task.trySubmit());
                                            }
                                        })));
        Pair pair = connect(near, openFar());
        Peer.drive("submitted", () -> !submitted.isEmpty(), near);
        assertThat(submitted).containsExactly(Status.SUCCESS);

        pair.far().send(pair.toNear(), null, 1);
        assertThat(near.next(pair.far()).status()).isEqualTo(Status.SUCCESS);
    }

    private static void stopIfRunning(Context rdma) {
        if (rdma.state() == ContextState.RUNNING) {
            rdma.stop();
        }
    }

    // ---- threads ----

    @Test
    void shouldRefuseCallsFromAnotherThread() throws InterruptedException {
        Pair pair = connected();
        Peer near = pair.near();
        RdmaSendTask task = near.rdma.allocateSend(pair.toFar(), null);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread other =
                Thread.ofPlatform()
                        .uncaughtExceptionHandler((thread, thrown) -> failure.set(thrown))
                        .start(() -> {
                            for (Runnable call :
                                    List.<Runnable>of(
                                            near.engine::progress,
                                            near.rdma::stop,
                                            near.rdma::exportConnection,
                                            () -> near.rdma.allocateReceive(null),
                                            () -> pair.toFar().disconnect(),
                                            task::trySubmit,
                                            task::free)) {
                                assertThat(Refusals.statusOf(call)).isEqualTo(Status.NOT_PERMITTED);
                            }
                        });
        other.join();
        assertThat(failure.get()).isNull();
        task.free();
    }
}
