package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.TinyContext.TinyTask;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tasks of a context submitted several at a time. */
class SeveralTasksTest {
    private static final int TASKS = 6;
    private static final int MAX_PASSES = 1_000;

    @TempDir Path folder;
    private Machines machines;
    private Device device;
    private ProgressEngine engine;
    private TinyContext context;

    /** User data of the tasks in order of completion. */
    private final List<Long> ended = new ArrayList<>();

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        device = machines.device(Side.HOST, "pf0");
        engine = machines.add(ProgressEngine.create());
        context = running(engine);
    }

    @AfterEach
    void close() throws Exception {
        context.completesByItself = true;
        drain(engine);
        machines.close();
    }

    private TinyContext running(ProgressEngine on) {
        TinyContext made = machines.add(new TinyContext(device));
        made.setQueueDepth(TASKS);
        on.connect(made);
        made.start();
        return made;
    }

    private static void drain(ProgressEngine engine) {
        for (int i = 0; engine.inFlightTasks() > 0 && i < MAX_PASSES; i++) {
            boolean unused = engine.progress();
        }
        assertThat(engine.inFlightTasks()).isZero();
    }

    private TinyTask[] tasks(TinyContext of) {
        TinyTask[] tasks = new TinyTask[TASKS];
        for (int i = 0; i < TASKS; i++) {
            tasks[i] = of.allocate();
            tasks[i].setUserData(i);
            tasks[i].setCallback(task -> ended.add(task.userData()));
        }
        return tasks;
    }

    private static void free(TinyTask[] tasks) {
        for (TinyTask task : tasks) {
            task.free();
        }
    }

    @Test
    void shouldSubmitInOrderAndCountEach() {
        TinyTask[] tasks = tasks(context);

        assertThat(context.trySubmitAll(tasks, 1, 5)).isEqualTo(4);

        assertThat(context.inFlightTasks()).isEqualTo(4);
        assertThat(engine.inFlightTasks()).isEqualTo(4);
        Thrown.with(Status.IN_USE, tasks[1]::free);
        Thrown.with(Status.IN_USE, tasks[4]::free);
        drain(engine);
        assertThat(ended).containsExactly(1L, 2L, 3L, 4L);
        free(tasks);
    }

    @Test
    void shouldStopAtATaskInFlightAndAtOneGivenTwice() {
        TinyTask[] tasks = tasks(context);
        tasks[2].submit();
        assertThat(context.trySubmitAll(tasks, 0, TASKS)).as("in flight").isEqualTo(2);
        TinyTask[] twice = {tasks[3], tasks[4], tasks[3], tasks[5]};
        assertThat(context.trySubmitAll(twice, 0, 4)).as("given twice").isEqualTo(2);
        assertThat(context.inFlightTasks()).isEqualTo(5);
        assertThat(twice[2].trySubmit()).isEqualTo(Status.IN_USE);
        drain(engine);
        assertThat(ended).containsExactly(2L, 0L, 1L, 3L, 4L);
        free(tasks);
    }

    @Test
    void shouldReturnTasksThatTheLibraryRefuses() {
        TinyTask[] tasks = tasks(context);
        tasks[3].valid = false;

        assertThat(context.trySubmitAll(tasks, 0, TASKS)).isEqualTo(3);

        assertThat(context.inFlightTasks()).isEqualTo(3);
        assertThat(tasks[3].trySubmit()).isEqualTo(Status.INVALID_VALUE);
        assertThat(context.trySubmitAll(tasks, 4, TASKS)).as("theirs again").isEqualTo(2);
        drain(engine);
        free(tasks);
    }

    @Test
    void shouldKeepWhatWasAcceptedBeforeAnExceptionOfTheLibrary() {
        TinyTask[] tasks = tasks(context);
        context.failsToSubmit = tasks[2];

        assertThatThrownBy(() -> context.trySubmitAll(tasks, 0, TASKS))
                .isInstanceOf(IllegalStateException.class);

        assertThat(context.inFlightTasks()).isEqualTo(2);
        assertThat(engine.inFlightTasks()).isEqualTo(2);
        context.failsToSubmit = null;
        assertThat(context.trySubmitAll(tasks, 2, TASKS)).isEqualTo(4);
        drain(engine);
        assertThat(ended).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
        free(tasks);
    }

    @Test
    void shouldSubmitNothingOfARangeOrTaskThatIsWrong() {
        TinyTask[] tasks = tasks(context);
        TinyContext other = running(engine);
        TinyTask foreign = other.allocate();
        Task[] mixed = {tasks[0], foreign, null};
        Thrown.with(Status.INVALID_VALUE, () -> context.trySubmitAll(mixed, 0, 2))
                .hasMessageContainingAll("index=1", "TinyTask", context.toString());
        Thrown.with(Status.INVALID_VALUE, () -> context.trySubmitAll(mixed, 2, 3))
                .hasMessageContainingAll("index=2", "task=null");
        Thrown.with(Status.INVALID_VALUE, () -> context.trySubmitAll(tasks, 3, TASKS + 1))
                .hasMessageContainingAll("from=3", "to=7", "elements=6");
        Thrown.with(Status.INVALID_VALUE, () -> context.trySubmitAll(tasks, -1, 1));
        Thrown.with(Status.INVALID_VALUE, () -> context.trySubmitAll(tasks, 2, 1));
        assertThat(engine.inFlightTasks()).isZero();
        assertThat(context.trySubmitAll(tasks, 2, 2)).isZero();
        free(tasks);
        foreign.free();
    }

    @Test
    void shouldSubmitNothingUnlessRunning() {
        TinyTask[] tasks = tasks(context);
        context.stop();
        assertThat(context.trySubmitAll(tasks, 0, TASKS)).isZero();
        assertThat(tasks[0].trySubmit()).isEqualTo(Status.BAD_STATE);
        context.start();
    }

    @Test
    void shouldRefuseOtherThreads() throws Exception {
        TinyTask[] tasks = tasks(context);
        CompletableFuture<Void> elsewhere = new CompletableFuture<>();
        Thread.ofPlatform()
                .start(() -> {
                    try {
                        Thrown.with(
                                Status.NOT_PERMITTED, () -> context.trySubmitAll(tasks, 0, TASKS));
                        elsewhere.complete(null);
                    } catch (Throwable e) {
                        elsewhere.completeExceptionally(e);
                    }
                });
        elsewhere.get(Patience.SECONDS, TimeUnit.SECONDS);
        assertThat(context.inFlightTasks()).isZero();
        free(tasks);
    }

    @Test
    void shouldSignalARequestedNotificationForThem() {
        TinyTask[] tasks = tasks(context);
        context.calls.clear();
        engine.requestNotification();
        assertThat(context.trySubmitAll(tasks, 0, 0)).isZero();
        assertThat(context.calls).as("nothing is submitted").containsExactly("arm");
        assertThat(context.trySubmitAll(tasks, 0, TASKS)).isEqualTo(TASKS);
        assertThat(context.calls).as("once for all").containsExactly("arm", "arm");
        assertThat(engine.awaitNotification(Patience.LIMIT)).isTrue();
        engine.clearNotification();
        drain(engine);
        free(tasks);
    }

    /** A sanitizer refuses some submissions and reorders completions, as it does for each task. */
    @Test
    void shouldLetASanitizerCheckEach() {
        boolean refused = false;
        boolean reordered = false;
        for (long seed = 0; seed < 40; seed++) {
            try (Sanitizer sanitizer = Sanitizer.start(seed);
                    ProgressEngine checked = ProgressEngine.create();
                    TinyContext of = new TinyContext(device)) {
                of.setQueueDepth(TASKS);
                checked.connect(of);
                of.start();
                TinyTask[] tasks = tasks(of);
                ended.clear();
                int next = 0;
                for (int i = 0; next < TASKS && i < MAX_PASSES; i++) {
                    int submitted = of.trySubmitAll(tasks, next, TASKS);
                    refused |= submitted < TASKS - next;
                    next += submitted;
                    assertThat(of.inFlightTasks()).isEqualTo(next);
                }
                drain(checked);
                assertThat(ended).containsExactlyInAnyOrder(0L, 1L, 2L, 3L, 4L, 5L);
                reordered |= !ended.equals(List.of(0L, 1L, 2L, 3L, 4L, 5L));
                free(tasks);
                of.stop();
                assertThat(sanitizer.reports()).isZero();
            }
        }
        assertThat(refused).as("some are refused").isTrue();
        assertThat(reordered).as("some are reordered").isTrue();
    }
}
