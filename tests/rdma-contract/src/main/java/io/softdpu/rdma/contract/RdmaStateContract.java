package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.testkit.Clause;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** States and threads of an instance, over every provider. */
public abstract class RdmaStateContract extends RdmaContract {
    /** For subclasses. */
    protected RdmaStateContract() {}

    @Test
    @Clause({"rdma-011", "rdma-179", "rdma-182"})
    void shouldKeepItsDeviceOpenFromItsStartOn() {
        try (ProgressEngine engine = ProgressEngine.create();
                Machine machine = environment().openMachine(folder(), environment().nearSide());
                Device device =
                        machine.findDevice(environment().device(environment().nearSide())).open()) {
            try (Rdma rdma = Rdma.create(device)) {
                assertThat(rdma.state()).isEqualTo(ContextState.IDLE);
                rdma.setReceiveTasks(1, task -> {}, task -> {});
                engine.connect(rdma);
                rdma.start();
                assertThat(Refusals.statusOf(device::close)).isEqualTo(Status.IN_USE);
            }
            Device gone = machine.findDevice(environment().device(environment().nearSide())).open();
            Rdma late = Rdma.create(gone).setReceiveTasks(1, task -> {}, task -> {});
            engine.connect(late);
            gone.close();
            assertThat(Refusals.statusOf(late::start)).isEqualTo(Status.BAD_STATE);
        }
    }

    @Test
    @Clause({"rdma-004", "rdma-178", "rdma-180"})
    @Clause({"rdma-187", "rdma-191"})
    void shouldGoThroughTheStatesOfTheCoreAndBeStartedAgain() {
        Peer near = openNear();
        Peer far = openFar();
        Context context = near.rdma;
        assertThat(context.device()).isSameAs(near.device);
        assertThat(context.isEventDrivenSupported()).isTrue();
        for (int round = 0; round < 2; round++) {
            near.states.clear();
            assertThat(context.state()).isEqualTo(ContextState.IDLE);
            Pair pair = connect(near, far);
            far.receive(far.room(0, 8), round);
            near.send(pair.toFar(), near.data(0, 8), round);
            assertThat(context.inFlightTasks()).isOne();
            assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
            assertThat(context.inFlightTasks()).isZero();
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
    @Clause("rdma-283")
    void shouldHaveItsUserDataInEveryCallback() {
        Set<String> called = new TreeSet<>();
        Object resources = new Object();
        BiConsumer<String, Context> check =
                (callback, context) -> {
                    called.add(callback);
                    assertThat(context.userObject()).as("%s", callback).isSameAs(resources);
                    assertThat(context.userData()).as("%s", callback).isEqualTo(-5);
                };
        Peer near =
                openConfigured(rdma -> {
                    assertThat(rdma.userData()).isZero();
                    assertThat(rdma.userObject()).isNull();
                    assertThat(rdma.setUserData(-5)).isSameAs(rdma);
                    assertThat(rdma.setUserObject(resources)).isSameAs(rdma);
                    rdma.setStateChangedCallback(
                            (context, previous, next) -> check.accept("state " + next, context));
                    rdma.setConnectionCallback((connection, previous, next) ->
                            check.accept("connection " + next, connection.context()));
                    rdma.setRnrRetries(Rdma.RNR_RETRIES_UNLIMITED);
                    rdma.setSendTasks(
                            2,
                            task -> end("sent", task, check),
                            task -> end("not sent", task, check));
                    rdma.setReceiveTasks(
                            1,
                            task -> end("received", task, check),
                            task -> end("not received", task, check));
                });
        Pair pair = connect(near, openFar());
        Peer far = pair.far();
        assertThat(Refusals.statusOf(() -> near.rdma.setUserData(1))).isEqualTo(Status.BAD_STATE);
        assertThat(Refusals.statusOf(() -> near.rdma.setUserObject(null)))
                .isEqualTo(Status.BAD_STATE);
        far.receive(null, 1);
        near.rdma.allocateSend(pair.toFar(), null).submit();
        near.rdma.allocateSend(pair.toFar(), null).submit(); // in flight until the end
        Peer.drive("the first is sent", () -> called.contains("sent"), near, far);
        near.rdma.allocateReceive(null).submit();
        near.rdma.stop();
        Peer.drive("the end", () -> called.contains("state IDLE"), near, far);
        assertThat(called)
                .containsExactlyInAnyOrder(
                        "connection CONNECTED",
                        "connection CONNECTING",
                        "connection DISCONNECTED",
                        "not received",
                        "not sent",
                        "sent",
                        "state IDLE",
                        "state RUNNING",
                        "state STARTING",
                        "state STOPPING");
        assertThat(near.rdma.setUserData(6).userData()).as("configurable again").isEqualTo(6);
        assertThat(near.rdma.userObject()).as("kept").isSameAs(resources);
    }

    private static void end(String callback, Task task, BiConsumer<String, Context> check) {
        check.accept(callback, task.context());
        task.free();
    }

    @Test
    void shouldNameTheStepThatAStartWaitsFor() {
        Peer near = openNear();
        assertThat(timeOutOfStart(near))
                .contains("awaited=a connection, expected=exportConnection");
        RdmaConnection connection = near.rdma.exportConnection();
        assertThat(timeOutOfStart(near)).contains("awaited=connect of connection 1");
        Peer far = openFar();
        far.start();
        near.rdma.connect(far.rdma.exportConnection().blob(), connection);
        assertThat(timeOutOfStart(near)).contains("awaited=peer", "connection 1");
        assertThat(near.rdma.state()).isEqualTo(ContextState.STARTING);
    }

    private static String timeOutOfStart(Peer peer) {
        Throwable thrown = catchThrowable(() -> peer.engine.start(peer.rdma, Duration.ofMillis(1)));
        assertThat(thrown).isInstanceOf(DpuException.class);
        assertThat(((DpuException) thrown).status()).isEqualTo(Status.TIME_OUT);
        return String.valueOf(thrown.getMessage());
    }

    @Test
    void shouldCloseAtTheEndOfATryBlockWithTasksInFlightAndWhileStarting() {
        Pair pair = connected();
        pair.near().receive(pair.near().room(0, 64), 1);
        try (Rdma connected = pair.near().rdma;
                Rdma starting = Rdma.create(pair.near().device)) {
            starting.setReceiveTasks(1, task -> {}, task -> {});
            pair.near().engine.connect(starting);
            starting.start();
            assertThat(connected.inFlightTasks()).isEqualTo(1);
        }
        assertThat(pair.near().rdma.state()).isEqualTo(ContextState.IDLE);
        assertThat(pair.near().outcomes)
                .extracting(outcome -> outcome.status())
                .containsExactly(Status.CONNECTION_ABORTED);
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
        for (Runnable change : changes(rdma)) {
            assertThat(Refusals.statusOf(change)).isEqualTo(Status.BAD_STATE);
        }
        if (kept != null) {
            kept.free();
        }
        near.stop();
        for (Runnable change : changes(rdma)) {
            assertThat(Refusals.statusOf(change)).as("IDLE again").isEqualTo(Status.SUCCESS);
        }
        assertThat(properties(rdma))
                .containsExactly(8, 2, 1, Duration.ofNanos(1), Permissions.LOCAL_READ_ONLY);
    }

    /** A change of each property, task type and callback. */
    private static List<Runnable> changes(Rdma rdma) {
        return List.of(
                () -> rdma.setSendQueueSize(8),
                () -> rdma.setMaxConnections(2),
                () -> rdma.setRnrRetries(1),
                () -> rdma.setConnectTimeout(Duration.ofNanos(1)),
                () -> rdma.setPermissions(Permissions.LOCAL_READ_ONLY),
                () -> rdma.setConnectionCallback(null),
                () -> rdma.setStateChangedCallback(null),
                () -> rdma.setSendTasks(1, task -> {}, task -> {}),
                () -> rdma.setReceiveTasks(1, task -> {}, task -> {}),
                () -> rdma.setReadTasks(1, task -> {}, task -> {}),
                () -> rdma.setWriteTasks(1, task -> {}, task -> {}));
    }

    private static List<Object> properties(Rdma rdma) {
        return List.of(
                rdma.sendQueueSize(),
                rdma.maxConnections(),
                rdma.rnrRetries(),
                rdma.connectTimeout(),
                rdma.permissions());
    }

    @Test
    @Clause("rdma-181")
    void shouldKeepItsConfigurationWhenAChangeIsRefused() {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        List<Object> before = properties(near.rdma);
        for (Runnable change : changes(near.rdma)) {
            assertThat(Refusals.statusOf(change)).isEqualTo(Status.BAD_STATE);
        }
        assertThat(properties(near.rdma)).isEqualTo(before);
        near.stop();
        far.stop();
        near.engine.progress();
        assertThat(near.states).as("the state callback").endsWith(ContextState.IDLE);
        near.connectionStates.clear();
        Pair again = connect(near, far);
        assertThat(near.connectionStates)
                .as("the connection callback")
                .endsWith(RdmaConnection.State.CONNECTED);
        Mmap remote = near.importRdma(far);
        for (BufTaskType type : BufTaskType.values()) { // two of each, with the callbacks of before
            exchange(type, again, remote, 1);
            exchange(type, again, remote, 2);
            assertThat(near.next(far).status()).as("%s", type).isEqualTo(Status.SUCCESS);
            assertThat(near.next(far).status()).as("%s", type).isEqualTo(Status.SUCCESS);
        }
    }

    /** Submits a task of the near side that will succeed. */
    private static void exchange(BufTaskType type, Pair pair, Mmap remote, long userData) {
        Peer near = pair.near();
        Status submitted =
                switch (type) {
                    case SEND -> {
                        pair.far().receive(null, userData);
                        yield near.send(pair.toFar(), null, userData);
                    }
                    case RECEIVE -> {
                        pair.far().send(pair.toNear(), null, userData);
                        yield near.receive(null, userData);
                    }
                    case READ ->
                            near.read(
                                    pair.toFar(),
                                    near.inventory.bufByData(remote, 0, 8),
                                    near.room(8 * userData, 8),
                                    userData);
                    case WRITE ->
                            near.write(
                                    pair.toFar(),
                                    near.data(0, 8),
                                    near.inventory.bufByAddress(remote, 8 * userData, 8),
                                    userData);
                    case SEND_IMMEDIATE -> {
                        pair.far().receive(null, userData);
                        yield near.sendImmediate(pair.toFar(), null, 1, userData);
                    }
                    case WRITE_IMMEDIATE -> {
                        pair.far().receive(null, userData);
                        yield near.writeImmediate(
                                pair.toFar(),
                                near.data(0, 8),
                                near.inventory.bufByAddress(remote, 8 * userData, 8),
                                1,
                                userData);
                    }
                    case COMPARE_AND_SWAP ->
                            near.compareAndSwap(
                                    pair.toFar(),
                                    near.inventory.bufByAddress(remote, 8 * userData, 8),
                                    near.room(8 * userData, 8),
                                    1,
                                    2,
                                    userData);
                    case FETCH_AND_ADD ->
                            near.fetchAndAdd(
                                    pair.toFar(),
                                    near.inventory.bufByAddress(remote, 8 * userData, 8),
                                    near.room(8 * userData, 8),
                                    1,
                                    userData);
                };
        assertThat(submitted).as("%s", type).isEqualTo(Status.SUCCESS);
    }

    @ParameterizedTest
    @EnumSource
    @Clause("rdma-188")
    void shouldRefuseTasksBeforeRunning(BufTaskType type) {
        Peer near = openNear();
        Peer far = openFar();
        far.start();
        if (type == BufTaskType.RECEIVE) { // the only one that needs no connection
            assertThat(Refusals.statusOf(() -> near.rdma.allocateReceive(null)))
                    .as("IDLE")
                    .isEqualTo(Status.BAD_STATE);
        }
        near.start();
        RdmaConnection toFar = near.rdma.exportConnection();
        Buf here = near.data(0, 8);
        Buf there = near.inventory.bufByData(near.importRdma(far), 0, 8);
        Supplier<Task> allocation = allocation(type, near, toFar, here, there);
        assertThat(statusOf(allocation)).as("STARTING").isEqualTo(Status.BAD_STATE);

        near.rdma.connect(far.rdma.exportConnection().blob(), toFar);
        for (int i = 0; i < 100; i++) {
            assertThat(statusOf(allocation)).as("connecting").isEqualTo(Status.BAD_STATE);
            near.engine.progress();
        }
        assertThat(near.rdma.state()).isEqualTo(ContextState.STARTING);
        near.stop();
        assertThat(statusOf(allocation)).as("IDLE").isEqualTo(Status.BAD_STATE);
        here.release();
        there.release();
    }

    private static Status statusOf(Supplier<Task> allocation) {
        return Refusals.statusOf(() -> allocation.get().free());
    }

    private static Supplier<Task> allocation(
            BufTaskType type, Peer near, RdmaConnection toFar, Buf here, Buf there) {
        return switch (type) {
            case SEND -> () -> near.rdma.allocateSend(toFar, here);
            case RECEIVE -> () -> near.rdma.allocateReceive(here);
            case READ -> () -> near.rdma.allocateRead(toFar, there, here);
            case WRITE -> () -> near.rdma.allocateWrite(toFar, here, there);
            case SEND_IMMEDIATE -> () -> near.rdma.allocateSendImmediate(toFar, here, 1);
            case WRITE_IMMEDIATE -> () -> near.rdma.allocateWriteImmediate(toFar, here, there, 1);
            case COMPARE_AND_SWAP ->
                    () -> near.rdma.allocateCompareAndSwap(toFar, there, here, 1, 2);
            case FETCH_AND_ADD -> () -> near.rdma.allocateFetchAndAdd(toFar, there, here, 1);
        };
    }

    @Test
    @Clause("rdma-183")
    void shouldBeIdleAtOnceWhenStoppedWithAllTasksFreed() {
        Pair pair = connected();
        Peer near = pair.near();
        Mmap remote = near.importRdma(pair.far());
        for (BufTaskType type : BufTaskType.values()) {
            exchange(type, pair, remote, 1);
            assertThat(near.next(pair.far()).status()).isEqualTo(Status.SUCCESS);
        }
        near.rdma.allocateSend(pair.toFar(), null).free(); // never submitted

        assertThat(near.rdma.stop()).isEqualTo(Status.SUCCESS);
        assertThat(near.rdma.state()).isEqualTo(ContextState.IDLE);
        near.engine.progress();
        assertThat(near.states).endsWith(ContextState.STOPPING, ContextState.IDLE);
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
    @Clause({"rdma-178", "rdma-184", "rdma-193"})
    void shouldStayInStoppingUntilCompletedTasksAreFreed() {
        List<Task> completed = new ArrayList<>();
        Peer near = openConfigured(rdma -> rdma.setReceiveTasks(2, completed::add, completed::add));
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
                        near.rdma::start)) {
            assertThat(Refusals.statusOf(call)).isEqualTo(Status.BAD_STATE);
        }
        assertThat(near.rdma.stop()).as("joins the stop").isEqualTo(Status.IN_PROGRESS);
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
                                        rdma.setReceiveTasks(
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

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-184", "rdma-190", "rdma-193"})
    void shouldStayInStoppingUntilEachTypeOfTaskIsFreed(BufTaskType type) {
        List<Task> completed = new ArrayList<>();
        Peer near =
                openConfigured(rdma -> {
                    rdma.setSendTasks(2, completed::add, completed::add);
                    rdma.setReceiveTasks(2, completed::add, completed::add);
                    rdma.setReadTasks(2, completed::add, completed::add);
                    rdma.setWriteTasks(2, completed::add, completed::add);
                    rdma.setSendImmediateTasks(2, completed::add, completed::add);
                    rdma.setWriteImmediateTasks(2, completed::add, completed::add);
                    rdma.setCompareAndSwapTasks(2, completed::add, completed::add);
                    rdma.setFetchAndAddTasks(2, completed::add, completed::add);
                });
        Pair pair = connect(near, openFar());
        Buf here = near.inventory.bufByArgs(near.mmap, 0, 64, 0, 8);
        Buf there = near.inventory.bufByArgs(near.importRdma(pair.far()), 0, 64, 0, 8);
        Supplier<Task> allocation = allocation(type, near, pair.toFar(), here, there);
        Task submitted = allocation.get();
        Task kept = allocation.get();
        submitted.submit();

        assertThat(near.rdma.stop()).isEqualTo(Status.IN_PROGRESS);
        assertThat(near.rdma.state()).isEqualTo(ContextState.STOPPING);
        near.engine.progress();
        assertThat(completed).containsExactly(submitted);
        assertStopping(near, "neither is freed");
        submitted.free();
        assertStopping(near, "one was not submitted and is not freed");
        kept.free();
        assertThat(near.rdma.state()).as("without progress").isEqualTo(ContextState.STOPPING);
        near.engine.progress();
        assertThat(near.rdma.state()).isEqualTo(ContextState.IDLE);
        here.release();
        there.release();
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-184", "rdma-190"})
    void shouldBeStoppingForATaskThatWasNeverSubmitted(BufTaskType type) {
        Pair pair = connected();
        Peer near = pair.near();
        Buf here = near.data(0, 8);
        Buf there = near.inventory.bufByData(near.importRdma(pair.far()), 0, 8);
        Task kept = allocation(type, near, pair.toFar(), here, there).get();

        assertThat(near.rdma.stop()).isEqualTo(Status.IN_PROGRESS);
        assertStopping(near, "a task is not freed");
        kept.free();
        near.engine.progress();
        assertThat(near.rdma.state()).isEqualTo(ContextState.IDLE);
        here.release();
        there.release();
    }

    private static void assertStopping(Peer peer, String why) {
        for (int i = 0; i < 10; i++) {
            assertThat(peer.rdma.state()).as(why).isEqualTo(ContextState.STOPPING);
            peer.engine.progress();
        }
        assertThat(peer.rdma.state()).as(why).isEqualTo(ContextState.STOPPING);
    }
}
