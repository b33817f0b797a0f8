package io.softdpu.core.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.testkit.AllocationMeter;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Asynchronous mode on a progress engine. */
class SyncEventTasksTest extends SyncEventFixture {
    private static final int TASKS = 8;

    private final List<String> log = new ArrayList<>();
    private ProgressEngine engine;

    @BeforeEach
    void createEngine() {
        engine = machines.add(ProgressEngine.create());
    }

    /** A context with all tasks, started on the engine. */
    private SyncEventContext asynchronous(SyncEvent event) {
        SyncEventContext context = configuredContext(event);
        engine.connect(context);
        context.start();
        return context;
    }

    private SyncEventContext configuredContext(SyncEvent event) {
        return event.asContext()
                .setGetTasks(TASKS, task -> got("get " + task.value()), this::failed)
                .setSetTasks(TASKS, task -> got("set " + task.value()), this::failed)
                .setAddTasks(TASKS, task -> got("add " + task.previous()), this::failed)
                .setWaitGreaterTasks(TASKS, task -> got("greater " + task.value()), this::failed)
                .setWaitEqualTasks(TASKS, task -> got("equal " + task.value()), this::failed)
                .setWaitNotEqualTasks(TASKS, task -> got("other " + task.value()), this::failed);
    }

    private void got(String what) {
        log.add(what);
    }

    private void failed(Task task) {
        log.add("failed " + task.status());
    }

    private void progress() {
        while (engine.progress()) {
            // until there is no work
        }
    }

    @Test
    @Clause("core-184")
    void shouldGetSetAndAddByTasks() {
        SyncEvent event = configured();
        SyncEventContext context = asynchronous(event);
        assertThat(event.isStarted()).isTrue();
        assertThat(event.asContext()).isSameAs(context);
        assertThat(context.event()).isSameAs(event);
        SyncEventSetTask set = context.allocateSet(5);
        SyncEventAddTask add = context.allocateAdd(2);
        SyncEventGetTask get = context.allocateGet();
        set.submit();
        add.submit();
        get.submit();
        assertThat(log).isEmpty();
        progress();
        assertThat(log).containsExactly("set 5", "add 5", "get 7");
        set.setValue(-1).submit();
        add.setIncrement(3).submit();
        get.submit();
        progress();
        assertThat(log).endsWith("set -1", "add -1", "get 2");
        assertThat(set.value()).isEqualTo(-1);
        assertThat(add.increment()).isEqualTo(3);
        set.free();
        add.free();
        get.free();
    }

    @Test
    @Clause({"core-187", "core-196"})
    void shouldCompleteEachWaitWhenItsConditionIsMet() {
        SyncEvent event = configured();
        SyncEventContext context = asynchronous(event);
        SyncEvent other = imported(event).start();
        SyncEventWaitTask greater = context.allocateWaitGreater(0x1ff, 0xffff);
        SyncEventWaitTask equal = context.allocateWaitEqual(2, 0xff);
        SyncEventWaitTask notEqual = context.allocateWaitNotEqual(0, ALL);
        greater.submit();
        equal.submit();
        notEqual.submit();
        progress();
        assertThat(log).isEmpty();
        other.set(1);
        progress();
        assertThat(log).containsExactly("other 1");
        other.set(0x1ff);
        progress();
        assertThat(log).hasSize(1);
        other.set(0x102);
        progress();
        assertThat(log).endsWith("equal 258").hasSize(2);
        other.set(0x200);
        progress();
        assertThat(log).endsWith("greater 512").hasSize(3);
        greater.free();
        equal.free();
        notEqual.free();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 0xff, 0xff00, 0xffff, 0xff00ff00L, 0xffffffffL, -1, 0xffL << 56})
    void shouldAcceptMasksOfWholeBytes(long mask) {
        SyncEventContext context = asynchronous(configured());
        SyncEventWaitTask task = context.allocateWaitEqual(0, mask);
        assertThat(task.mask()).isEqualTo(mask);
        task.free();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 0x0ff0, 0xffffff, 0xffffffffffL, 0x7fffffffffffffffL, 0xff01})
    void shouldRefuseOtherMasks(long mask) {
        SyncEventContext context = asynchronous(configured());
        Thrown.with(Status.INVALID_VALUE, () -> context.allocateWaitEqual(0, mask))
                .hasMessageContaining("mask=");
        SyncEventWaitTask task = context.allocateWaitGreater(0, ALL);
        Thrown.with(Status.INVALID_VALUE, () -> task.setMask(mask));
        assertThat(task.mask()).isEqualTo(ALL);
        task.free();
    }

    @Test
    void shouldBeEitherSynchronousOrAsynchronous() {
        SyncEvent event = configured();
        SyncEventContext context = configuredContext(event);
        Thrown.with(Status.BAD_STATE, event::start).hasMessageContaining("asContext was called");
        engine.connect(context);
        context.start();
        Thrown.with(Status.BAD_STATE, event::start);
        Thrown.with(Status.BAD_STATE, event::stop).hasMessageContaining("stop of its context");
        Thrown.with(Status.BAD_STATE, event::get).hasMessageContaining("state=ASYNCHRONOUS");
        Thrown.with(Status.BAD_STATE, () -> event.set(1));
        SyncEvent synchronous = started();
        Thrown.with(Status.BAD_STATE, synchronous::asContext);
    }

    @Test
    @Clause({"core-201", "core-202", "core-203"})
    void shouldBeStoppedByItsContextAndClosedThen() {
        SyncEvent event = configured();
        SyncEventContext context = asynchronous(event);
        SyncEventWaitTask wait = context.allocateWaitGreater(0, ALL);
        wait.submit();
        Thrown.with(Status.IN_USE, event::close).hasMessageContaining("stop of its context");
        Thrown.with(Status.IN_USE, context::close).hasMessageContaining("sync event is started");
        assertThat(context.state()).isEqualTo(ContextState.RUNNING);
        assertThat(context.stop()).isEqualTo(Status.IN_PROGRESS);
        progress();
        assertThat(log).containsExactly("failed SHUTDOWN");
        wait.free();
        progress();
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
        assertThat(event.isStarted()).isFalse();
        Thrown.with(Status.BAD_STATE, context::start).hasMessageContaining("can only be closed");
        event.close();
        Thrown.with(Status.BAD_STATE, context::start);
    }

    @Test
    void shouldRequireTasksOfAnyType() {
        SyncEventContext context = configured().asContext();
        engine.connect(context);
        Thrown.with(Status.BAD_STATE, context::start).hasMessageContaining("item=tasks");
    }

    @Test
    @Clause("core-177")
    void shouldRequireBothLocationsBeforeTheStartOfTheContext() {
        SyncEvent event = closedLater(SyncEvent.create(pf0));
        SyncEventContext context = configuredContext(event);
        engine.connect(context);
        Thrown.with(Status.BAD_STATE, context::start)
                .hasMessageContaining("item=publisher location");
    }

    @Test
    void shouldWakeAnEngineThatSleeps() {
        SyncEvent event = configured();
        SyncEventContext context = asynchronous(event);
        SyncEvent other = imported(event).start();
        for (int round = 1; round <= 3; round++) {
            SyncEventWaitTask wait = context.allocateWaitGreater(round - 1, ALL);
            wait.submit();
            progress();
            engine.requestNotification();
            assertThat(engine.awaitNotification(Duration.ZERO)).isFalse();
            other.set(round);
            assertThat(engine.awaitNotification(Patience.LIMIT)).isTrue();
            engine.clearNotification();
            progress();
            assertThat(log).hasSize(round).endsWith("greater " + round);
            wait.free();
        }
    }

    /**
     * The value to wait for is there before the submission, before progress looks, or after; in the
     * last case, an earlier wait has ended with it.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "update submit",
                "submit update",
                "submit look update",
                "update submit look submit"
            })
    void shouldNotSleepForAWaitThatCouldEndBeforeTheNotificationWasRequested(String steps) {
        SyncEvent event = configured();
        SyncEventContext context = asynchronous(event);
        SyncEvent other = imported(event).start();
        progress(); // the start
        SyncEventWaitTask wait = context.allocateWaitGreater(0, ALL);
        for (String step : steps.split(" ")) {
            switch (step) {
                case "update" -> other.set(1);
                case "submit" -> wait.submit();
                default -> progress();
            }
        }
        log.clear();
        engine.requestNotification();
        assertThat(engine.awaitNotification(Patience.LIMIT)).isTrue();
        engine.clearNotification();
        progress();
        assertThat(log).containsExactly("greater 1");
        wait.free();
    }

    @Test
    void shouldEndTasksOfAHandleWhoseEventWasDestroyed() {
        SyncEvent event = started();
        SyncEvent handle = imported(event);
        SyncEventContext context = asynchronous(handle);
        SyncEventWaitTask wait = context.allocateWaitGreater(0, ALL);
        SyncEventGetTask get = context.allocateGet();
        wait.submit();
        progress();
        event.stop();
        event.close();
        Thrown.with(Status.SHUTDOWN, get::submit).hasMessageContaining("destroyed");
        assertThat(engine.await(Patience.LIMIT)).isTrue();
        progress();
        assertThat(log).containsExactly("failed SHUTDOWN");
        assertThat(context.failure()).isNotNull();
        assertThat(context.failure().status()).isEqualTo(Status.SHUTDOWN);
        wait.free();
        get.free();
        Await.until(
                "the context is idle",
                () -> {
                    progress();
                    return context.state() == ContextState.IDLE;
                });
        handle.close();
    }

    @Test
    void shouldLetACallbackSubmitAgain() {
        SyncEvent event = configured();
        int[] left = {3};
        SyncEventContext context =
                event.asContext()
                        .setWaitGreaterTasks(
                                1,
                                task -> {
                                    if (--left[0] > 0) {
                                        task.setThreshold(task.threshold() + 1).submit();
                                    } else {
                                        task.free();
                                    }
                                },
                                this::failed);
        engine.connect(context);
        context.start();
        SyncEvent other = imported(event).start();
        context.allocateWaitGreater(0, ALL).submit();
        other.set(2);
        progress();
        assertThat(left[0]).isEqualTo(1);
        other.set(3);
        progress();
        assertThat(left[0]).isZero();
        assertThat(context.allocatedTasks()).isZero();
    }

    @Test
    @Clause("core-003")
    void shouldOperateWithoutAllocation() {
        SyncEvent event = configured();
        SyncEventContext context =
                event.asContext()
                        .setAddTasks(1, task -> {}, this::failed)
                        .setGetTasks(1, task -> {}, this::failed)
                        .setWaitGreaterTasks(1, task -> {}, this::failed);
        engine.connect(context);
        context.start();
        SyncEventAddTask add = context.allocateAdd(1);
        SyncEventGetTask get = context.allocateGet();
        SyncEventWaitTask wait = context.allocateWaitGreater(0, ALL);
        AllocationMeter.assertNone(
                20_000,
                () -> {
                    wait.setThreshold(get.value());
                    wait.submit();
                    add.submit();
                    engine.progress();
                    get.submit();
                    engine.progress();
                });
        assertThat(log).isEmpty();
        assertThat(get.value()).isPositive();
        add.free();
        get.free();
        wait.free();
    }

    @Test
    @Clause("core-225")
    void shouldHaveNoWaitOnADeviceWithoutIt() throws Exception {
        Topology topology = limited(SyncEventCapabilities.WAIT_TASKS_LIMIT, 0);
        try (Machines older = new Machines(folder.resolve("older"))) {
            Machine machine =
                    older.add(
                            Machine.builder(Side.HOST)
                                    .topology(topology)
                                    .fabricFolder(older.folder())
                                    .open());
            Device device = older.add(machine.findDevice("pf0").open());
            Capabilities capabilities = Capabilities.of(device.info(), "sync-event");
            assertThat(capabilities.isSupported("task_wait")).isFalse();
            assertThat(capabilities.get("max_wait_tasks").value()).isZero();
            assertThat(capabilities.isSupported("task_get")).isTrue();
            SyncEvent event =
                    SyncEvent.create(device)
                            .addPublisherLocation(SyncEventLocation.CPU)
                            .addSubscriberLocation(SyncEventLocation.CPU);
            SyncEventContext context = event.asContext();
            Thrown.with(
                            Status.NOT_SUPPORTED,
                            () -> context.setWaitGreaterTasks(1, task -> {}, task -> {}))
                    .hasMessageContaining("limit=0");
            Thrown.with(
                    Status.NOT_SUPPORTED,
                    () -> context.setWaitEqualTasks(1, task -> {}, task -> {}));
            Thrown.with(
                    Status.NOT_SUPPORTED,
                    () -> context.setWaitNotEqualTasks(1, task -> {}, task -> {}));
            Thrown.with(Status.NOT_SUPPORTED, () -> context.createWaitGreaterJob(0, ALL));
            event.close();
        }
        SyncEventCapabilities here = SyncEventCapabilities.of(pf0.info());
        assertThat(here.isWaitTaskSupported()).isTrue();
        assertThat(Capabilities.of(pf0.info(), "sync-event").limit("max_wait_tasks"))
                .isEqualTo(here.maxWaitTasks());
    }

    @Test
    void shouldRefuseMoreTasksThanTheLimit() {
        SyncEventContext context = configured().asContext();
        int tasks = context.capabilities().maxTasks();
        int waits = context.capabilities().maxWaitTasks();
        Thrown.with(
                Status.INVALID_VALUE, () -> context.setGetTasks(tasks + 1, task -> {}, t -> {}));
        Thrown.with(
                Status.INVALID_VALUE,
                () -> context.setWaitEqualTasks(waits + 1, task -> {}, t -> {}));
    }
}
