package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.execution.TinyContext.TinyTask;
import io.softdpu.core.spi.TaskPool;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TaskTest {
    @TempDir Path folder;
    private Machines machines;
    private ProgressEngine engine;
    private TinyContext context;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        var device = machines.device(Side.HOST, "pf0");
        engine = machines.add(ProgressEngine.create());
        context = machines.add(new TinyContext(device));
        context.setQueueDepth(4);
        engine.connect(context);
        context.start();
    }

    @AfterEach
    void close() throws Exception {
        if (context.state() == ContextState.RUNNING) {
            context.stop();
        }
        while (context.state() != ContextState.IDLE) {
            engine.progress();
        }
        machines.close();
    }

    @Test
    @Clause("core-135")
    void shouldReturnFromSubmitBeforeItIsDoneAndCompleteInProgress() {
        TinyTask task = context.allocate();
        List<Status> ended = new ArrayList<>();
        task.setCallback(t -> ended.add(t.status()));
        assertThat(task.context()).isSameAs(context);
        task.submit();
        assertThat(ended).isEmpty();
        assertThat(engine.progress()).isTrue();
        assertThat(ended).containsExactly(Status.SUCCESS);
        assertThat(engine.progress()).as("each completion comes once").isFalse();
        task.free();
    }

    @Test
    void shouldRefuseEverythingWhileInFlight() {
        TinyTask task = context.allocate();
        context.completesByItself = false;
        task.submit();
        assertThat(task.trySubmit()).isEqualTo(Status.IN_USE);
        Thrown.with(Status.IN_USE, task::submit);
        Thrown.with(Status.IN_USE, task::free);
        Thrown.with(Status.IN_USE, () -> task.setCallback(null));
    }

    @Test
    void shouldBeInProgressFromItsSubmissionUntilItsCallback() {
        TinyTask task = context.allocate();
        List<Status> ended = new ArrayList<>();
        task.setCallback(t -> ended.add(t.status()));
        assertThat(task.status()).as("never submitted").isEqualTo(Status.SUCCESS);
        task.submit();
        assertThat(task.status()).isEqualTo(Status.IN_PROGRESS);
        engine.progress();
        assertThat(ended).containsExactly(Status.SUCCESS);
        task.valid = false;
        assertThat(task.trySubmit()).isEqualTo(Status.INVALID_VALUE);
        assertThat(task.status())
                .as("refused: that of the last execution")
                .isEqualTo(Status.SUCCESS);
        task.free();
    }

    @Test
    void shouldRefuseAFreedTask() {
        TinyTask task = context.allocate();
        task.free();
        assertThat(task.trySubmit()).isEqualTo(Status.BAD_STATE);
        Thrown.with(Status.BAD_STATE, task::free);
        Thrown.with(Status.BAD_STATE, () -> task.setCallback(null));
    }

    @Test
    void shouldLeaveATaskThatIsNotValidToItsUser() {
        TinyTask task = context.allocate();
        task.valid = false;
        assertThat(task.trySubmit()).isEqualTo(Status.INVALID_VALUE);
        Thrown.with(Status.INVALID_VALUE, task::submit).hasMessageContainingAll("TinyTask", "tiny");
        assertThat(context.inFlightTasks()).isZero();
        task.valid = true;
        task.submit();
        engine.progress();
        assertThat(task.status()).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldRefuseTasksWhileTheContextIsNotRunning() {
        TinyTask task = context.allocate();
        context.stop();
        assertThat(task.trySubmit()).isEqualTo(Status.BAD_STATE);
        Thrown.with(Status.BAD_STATE, task::submit).hasMessageContaining("state=IDLE");
        Thrown.with(Status.BAD_STATE, context::allocate);
    }

    @Test
    @Clause("core-003")
    void shouldHaveAsManyTasksAsWereMadeAtStart() {
        List<TinyTask> tasks = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            tasks.add(context.allocate());
        }
        Thrown.with(Status.NO_MEMORY, context::allocate)
                .hasMessageContainingAll(
                        "tasks=4",
                        "expected=a task freed in its callback, or a larger count in"
                                + " setQueueDepth");
        assertThat(context.pool().tryAllocate()).isNull();
        assertThat(context.pool().available()).isZero();
        tasks.forEach(TinyTask::free);
        assertThat(context.pool().available()).isEqualTo(context.pool().total()).isEqualTo(4);
        List<TinyTask> made = new ArrayList<>();
        TaskPool<TinyTask> pool =
                new TaskPool<>(
                        3,
                        "setTasks",
                        () -> {
                            made.add(new TinyTask(context));
                            return made.getLast();
                        });
        assertThat(made).as("before the first is allocated").hasSize(3);
        for (int i = 0; i < 3; i++) {
            assertThat(made).contains(pool.tryAllocate());
        }
        assertThat(made).as("all are allocated").hasSize(3);
        made.forEach(TinyTask::free);
        Thrown.with(
                Status.INVALID_VALUE,
                () -> new TaskPool<TinyTask>(0, "setTasks", () -> new TinyTask(context)));
    }

    @Test
    @Clause("core-025")
    void shouldCarryUserDataUntilItIsFreed() {
        TinyTask task = context.allocate();
        task.setUserObject(this);
        for (long number : new long[] {-1, 1L << 32, Long.MIN_VALUE, 0xFEDC_BA98_7654_3210L}) {
            task.setUserData(number);
            task.submit();
            engine.progress();
            assertThat(task.userData()).isEqualTo(number);
        }
        assertThat(task.userObject()).isSameAs(this);
        task.free();
        TinyTask next = context.allocate();
        assertThat(next).as("the task used last is used next").isSameAs(task);
        assertThat(next.userData()).isZero();
        assertThat(next.userObject()).isNull();
    }

    @Test
    void shouldBeSubmittedAgainInItsOwnCallback() {
        TinyTask task = context.allocate();
        int[] runs = new int[1];
        task.setCallback(t -> {
            if (++runs[0] < 3) {
                t.submit();
            } else {
                t.free();
            }
        });
        task.submit();
        for (int i = 0; i < 5; i++) {
            engine.progress();
        }
        assertThat(runs[0]).isEqualTo(3);
        assertThat(context.pool().available()).isEqualTo(4);
    }

    @Test
    @Clause("core-153")
    void shouldCountCompletionsOfSeveralTasks() {
        int[] done = new int[1];
        for (int i = 0; i < 4; i++) {
            TinyTask task = context.allocate();
            task.setCallback(t -> done[0]++);
            task.submit();
        }
        while (done[0] < 4) {
            engine.progress();
        }
        assertThat(engine.inFlightTasks()).isZero();
    }

    @Test
    void shouldRingForAllThatWasSubmittedWhenOneAsksForIt() {
        context.calls.clear();
        TinyTask first = context.allocate();
        TinyTask second = context.allocate();
        TinyTask third = context.allocate();
        first.submit();
        second.submit(SubmitFlags.NONE);
        assertThat(context.calls).isEmpty();
        assertThat(third.trySubmit(SubmitFlags.FLUSH)).isEqualTo(Status.SUCCESS);
        assertThat(context.calls).containsExactly("ring for 3");
        assertThat(third.trySubmit(SubmitFlags.FLUSH)).isEqualTo(Status.IN_USE);
        assertThat(third.trySubmit(null)).isEqualTo(Status.INVALID_VALUE);
        Thrown.with(Status.INVALID_VALUE, () -> third.submit(null));
        assertThat(context.calls).as("nothing was submitted").containsExactly("ring for 3");
    }

    @Test
    void shouldReportTasksWhoseReportsMayWaitThoughNoneFollows() {
        List<TinyTask> ended = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            TinyTask task = context.allocate();
            task.setCallback(ended::add);
            task.submit(SubmitFlags.OPTIMIZE_REPORTS);
        }
        while (engine.progress()) {}
        assertThat(ended).hasSize(3);
        assertThat(context.inFlightTasks()).isZero();
    }

    @Test
    void shouldPutWishesTogether() {
        List<SubmitFlags> all =
                List.of(
                        SubmitFlags.NONE,
                        SubmitFlags.FLUSH,
                        SubmitFlags.OPTIMIZE_REPORTS,
                        SubmitFlags.FLUSH.and(SubmitFlags.OPTIMIZE_REPORTS));
        for (SubmitFlags one : all) {
            for (SubmitFlags other : all) {
                SubmitFlags both = one.and(other);
                assertThat(both.flushes()).isEqualTo(one.flushes() || other.flushes());
                assertThat(both.optimizesReports())
                        .isEqualTo(one.optimizesReports() || other.optimizesReports());
                assertThat(both).isEqualTo(new SubmitFlags(one.bits() | other.bits()));
            }
        }
        assertThat(all).extracting(SubmitFlags::bits).containsExactly(0, 1, 2, 3);
        Thrown.with(Status.INVALID_VALUE, () -> new SubmitFlags(4));
        Thrown.with(Status.INVALID_VALUE, () -> SubmitFlags.NONE.and(null));
    }

    @Test
    void shouldNeverCompleteATaskOutsideProgressOrTwice() {
        TinyTask task = context.allocate();
        assertThatThrownBy(() -> task.finish(Status.SUCCESS))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("not in flight");
        context.completesByItself = false;
        task.submit();
        assertThatThrownBy(() -> task.finish(Status.SUCCESS))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("inside progress");
        assertThat(context.inFlightTasks()).isEqualTo(1);
    }
}
