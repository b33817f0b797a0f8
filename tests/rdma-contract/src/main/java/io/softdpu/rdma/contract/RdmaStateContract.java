package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
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
import org.junit.jupiter.api.Test;

/** Configuration, states and threads of an instance, over every provider. */
public abstract class RdmaStateContract extends RdmaContract {
    /** For subclasses. */
    protected RdmaStateContract() {}

    // ---- configuration ----

    @Test
    @Clause("rdma-016")
    void shouldRefuseToStartWithNothingConfigured() {
        try (Machine machine = site().openMachine(folder(), site().nearSide());
                Device device = machine.findDevice(site().device(site().nearSide())).open();
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
        Party near = openNear();
        try (Machine machine = site().openMachine(folder(), site().farSide());
                Device device = machine.findDevice(site().device(site().farSide())).open();
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
            Party.drive(
                    "the responder runs",
                    () -> {
                        engine.progress();
                        return responder.state() == ContextState.RUNNING;
                    },
                    near);
            responder.stop();
            Await.byStep(
                    "idle",
                    Party.DEADLINE_NANOS,
                    () -> responder.state() == ContextState.IDLE,
                    engine::progress);
        }
    }

    @Test
    @Clause({"rdma-037", "rdma-039"})
    void shouldHaveDefaults() {
        try (Machine machine = site().openMachine(folder(), site().nearSide());
                Device device = machine.findDevice(site().device(site().nearSide())).open();
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
    void shouldRoundTheSendQueueUpToAPowerOfTwo() {
        Party near = openNear();

        assertThat(near.rdma.setSendQueueSize(1).sendQueueSize()).isEqualTo(1);
        assertThat(near.rdma.setSendQueueSize(3).sendQueueSize()).isEqualTo(4);
        assertThat(near.rdma.setSendQueueSize(64).sendQueueSize()).isEqualTo(64);
        assertThat(near.rdma.setSendQueueSize(65).sendQueueSize()).isEqualTo(128);
    }

    @Test
    @Clause("rdma-041")
    void shouldRefuseValuesBeyondWhatTheCapabilitiesSay() {
        Party near = openNear();
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
    @Clause({"rdma-042", "rdma-043", "rdma-044", "rdma-059", "rdma-076", "rdma-100", "rdma-112"})
    void shouldTellWhatEachDeviceCanDo() {
        try (Machine machine = site().openMachine(folder(), site().nearSide())) {
            assertThat(machine.devices()).isNotEmpty();
            for (var info : machine.devices()) {
                RdmaCapabilities can = RdmaCapabilities.of(info);
                assertThat(can.isSupported()).isTrue();
                assertThat(can.isSupported(RdmaTaskType.RECEIVE)).isTrue();
                assertThat(can.isSupported(RdmaTaskType.SEND)).isTrue();
                assertThat(can.isSupported(RdmaTaskType.READ)).isTrue();
                assertThat(can.isSupported(RdmaTaskType.WRITE)).isTrue();
                assertThat(can.maxMessageBytes()).isBetween(1L << 20, 1L << 31);
                assertThat(can.providers()).isNotEmpty();
            }
        }
    }

    @Test
    @Clause({
        "rdma-062",
        "rdma-079",
        "rdma-089",
        "rdma-123",
        "rdma-136",
        "rdma-145",
        "rdma-152",
        "rdma-163",
        "rdma-172"
    })
    void shouldTellWhatIsNotBuilt() {
        try (Machine machine = site().openMachine(folder(), site().nearSide())) {
            for (var info : machine.devices()) {
                RdmaCapabilities can = RdmaCapabilities.of(info);
                Capabilities uniform = Capabilities.of(info, "rdma");
                for (RdmaTaskType type : RdmaTaskType.values()) {
                    assertThat(uniform.isSupported("task_" + type.name().toLowerCase(Locale.ROOT)))
                            .as(type.name())
                            .isEqualTo(can.isSupported(type))
                            .isEqualTo(
                                    Set.of(
                                                    RdmaTaskType.RECEIVE,
                                                    RdmaTaskType.SEND,
                                                    RdmaTaskType.READ,
                                                    RdmaTaskType.WRITE)
                                            .contains(type));
                }
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
        try (Machine machine = site().openMachine(folder(), site().nearSide());
                Device device = machine.findDevice(site().device(site().nearSide())).open()) {
            try (Rdma rdma = Rdma.create(device)) {
                assertThat(rdma.state()).isEqualTo(ContextState.IDLE);
                assertThat(Refusals.statusOf(device::close)).isEqualTo(Status.IN_USE);
            }
        }
    }

    // ---- states ----

    @Test
    @Clause({"rdma-004", "rdma-178", "rdma-181", "rdma-182"})
    void shouldRefuseConfigurationAfterStart() {
        Party near = openNear();
        assertThat(near.rdma.state()).isEqualTo(ContextState.IDLE);
        near.start();
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
    }

    @Test
    @Clause("rdma-188")
    void shouldRefuseTasksBeforeRunning() {
        Party near = openNear();
        assertThat(Refusals.statusOf(() -> near.rdma.allocateReceive(null)))
                .isEqualTo(Status.BAD_STATE);
        near.start();
        assertThat(Refusals.statusOf(() -> near.rdma.allocateReceive(null)))
                .isEqualTo(Status.BAD_STATE);
    }

    @Test
    @Clause({"rdma-058", "rdma-060", "rdma-075", "rdma-077", "rdma-099", "rdma-111", "rdma-113"})
    void shouldHandOutAsManyTasksAsConfiguredOfTheTypesConfigured() {
        Party near =
                add(
                        Party.open(
                                site(),
                                folder(),
                                site().nearSide(),
                                Party.ALL,
                                rdma -> rdma.configureSendTasks(2, task -> {}, task -> {})));
        Pair pair = connect(near, openFar());

        RdmaSendTask first = near.rdma.allocateSend(pair.toFar(), null);
        RdmaSendTask second = near.rdma.allocateSend(pair.toFar(), null);
        assertThat(Refusals.statusOf(() -> near.rdma.allocateSend(pair.toFar(), null)))
                .isEqualTo(Status.NO_MEMORY);
        first.free();
        RdmaSendTask third = near.rdma.allocateSend(pair.toFar(), null);
        second.free();
        third.free();
        assertThat(Refusals.statusOf(third::submit)).isEqualTo(Status.BAD_STATE);
    }

    @Test
    void shouldRefuseTasksOfTypesThatWereNotConfigured() {
        Party near = openNear();
        try (Machine machine = site().openMachine(folder(), site().farSide());
                Device device = machine.findDevice(site().device(site().farSide())).open();
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
            Party.drive(
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
                    Party.DEADLINE_NANOS,
                    () -> other.state() == ContextState.IDLE,
                    engine::progress);
        }
    }

    @Test
    @Clause("rdma-040")
    void shouldAnswerAgainWhenTheSendQueueIsFullAndTakeMoreLater() {
        Party near =
                add(
                        Party.open(
                                site(),
                                folder(),
                                site().nearSide(),
                                Party.ALL,
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
    @Clause({"rdma-004", "rdma-184", "rdma-190", "rdma-192", "rdma-193", "rdma-194"})
    void shouldFlushWhatIsInFlightAndWaitForTasksToBeFreed() {
        Pair pair = connected();
        Party near = pair.near();
        for (int i = 0; i < 3; i++) {
            near.receive(near.room(i * 64L, 64), i);
            near.send(pair.toFar(), near.data(1000 + i * 64L, 64), 10 + i);
        }
        RdmaReceiveTask kept = near.rdma.allocateReceive(null);

        assertThat(near.rdma.stop()).isEqualTo(Status.IN_PROGRESS);
        assertThat(near.rdma.state()).isEqualTo(ContextState.STOPPING);
        assertThat(near.outcomes).as("callbacks come in progress").isEmpty();
        assertThat(kept.trySubmit()).isEqualTo(Status.BAD_STATE);
        assertThat(Refusals.statusOf(() -> near.rdma.allocateReceive(null)))
                .isEqualTo(Status.BAD_STATE);
        assertThat(Refusals.statusOf(near.rdma::exportConnection)).isEqualTo(Status.BAD_STATE);
        near.engine.progress();
        assertThat(near.outcomes)
                .hasSize(6)
                .allMatch(outcome -> outcome.status() == Status.CONNECTION_ABORTED);
        near.engine.progress();
        assertThat(near.rdma.state()).as("a task is not freed").isEqualTo(ContextState.STOPPING);

        kept.free();
        near.engine.progress();
        assertThat(near.rdma.state()).isEqualTo(ContextState.IDLE);
    }

    @Test
    void shouldStopFromWithinACallback() {
        Party near =
                add(
                        Party.open(
                                site(),
                                folder(),
                                site().nearSide(),
                                Party.ALL,
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

        Party.drive("the end", () -> near.rdma.state() == ContextState.IDLE, near, pair.far());
        assertThat(near.rdma.inFlightTasks()).isZero();
    }

    @Test
    @Clause("rdma-188")
    void shouldTakeTasksFromWithinTheStateCallback() {
        List<Status> submitted = new ArrayList<>();
        Party near =
                add(
                        Party.open(
                                site(),
                                folder(),
                                site().nearSide(),
                                Party.ALL,
                                rdma ->
                                        rdma.setStateChangedCallback((context, previous, next) -> {
                                            if (next == ContextState.RUNNING) {
                                                var task = rdma.allocateReceive(null);
                                                submitted.add(task.trySubmit());
                                            }
                                        })));
        Pair pair = connect(near, openFar());
        Party.drive("submitted", () -> !submitted.isEmpty(), near);
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
        Party near = pair.near();
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
