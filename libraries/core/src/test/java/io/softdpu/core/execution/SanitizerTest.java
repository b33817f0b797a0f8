package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.ARRAY;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.SanitizerReport.Kind;
import io.softdpu.core.execution.TinyContext.TinyTask;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Effects of the sanitizer on tasks, and its reports. */
class SanitizerTest {
    private static final int TASKS = 12;
    private static final int SEEDS = 40;
    private static final int MAX_PASSES = 1_000;
    private static final List<Long> IN_ORDER =
            IntStream.range(0, TASKS).mapToObj(i -> (long) i).toList();

    @TempDir Path folder;
    private Machines machines;
    private Device device;
    private final List<SanitizerReport> reports = new ArrayList<>();

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        device = machines.device(Side.HOST, "pf0");
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    /**
     * A program with an engine and a context of its own, under this seed; null for no sanitizer.
     */
    private interface Program {
        void run(ProgressEngine engine, TinyContext context);
    }

    private void run(@Nullable Long seed, boolean ordered, Program program) {
        reports.clear();
        try (Sanitizer sanitizer = seed == null ? null : Sanitizer.start(seed)) {
            if (sanitizer != null) {
                sanitizer.setListener(reports::add);
            }
            try (ProgressEngine engine = ProgressEngine.create();
                    TinyContext context = new TinyContext(device)) {
                context.setQueueDepth(TASKS);
                context.ordered = ordered;
                engine.connect(context);
                context.start();
                program.run(engine, context);
                end(engine, context);
            }
            if (sanitizer != null) {
                assertThat(sanitizer.reports()).isEqualTo(reports.size());
            }
        }
    }

    private static void end(ProgressEngine engine, TinyContext context) {
        if (context.state() == ContextState.RUNNING) {
            context.stop();
        }
        for (int i = 0; context.state() != ContextState.IDLE && i < MAX_PASSES; i++) {
            boolean unused = engine.progress();
        }
    }

    /** Tries until it is taken, as a portable program has to. */
    private static void submit(ProgressEngine engine, TinyTask task, SubmitFlags flags) {
        for (int i = 0; i < MAX_PASSES; i++) {
            Status submitted = task.trySubmit(flags);
            if (submitted == Status.SUCCESS) {
                return;
            }
            assertThat(submitted).isEqualTo(Status.AGAIN);
            boolean unused = engine.progress();
        }
        throw new AssertionError("was never taken");
    }

    /** Submits all tasks at once and says in which order they complete. */
    private List<Long> completions(@Nullable Long seed, boolean ordered) {
        List<Long> ended = new ArrayList<>();
        run(
                seed,
                ordered,
                (engine, context) -> {
                    List<TinyTask> tasks = new ArrayList<>();
                    for (int i = 0; i < TASKS; i++) {
                        TinyTask task = context.allocate();
                        task.setUserData(i);
                        task.setCallback(t -> ended.add(t.userData()));
                        tasks.add(task);
                    }
                    tasks.forEach(task -> submit(engine, task, SubmitFlags.NONE));
                    for (int i = 0; ended.size() < TASKS && i < MAX_PASSES; i++) {
                        assertThat(engine.progress()).as("something is in flight").isTrue();
                    }
                    tasks.forEach(TinyTask::free);
                });
        assertThat(ended).containsExactlyInAnyOrderElementsOf(IN_ORDER);
        assertThat(reports).isEmpty();
        return ended;
    }

    @Test
    @Clause("core-140")
    void shouldShowAProgramThatReliesOnTheOrderOfItsTasks() {
        if (Sanitizer.current() == null) {
            assertThat(completions(null, false)).as("without").isEqualTo(IN_ORDER);
        }
        for (long seed = 0; seed < SEEDS; seed++) {
            assertThat(completions(seed, false)).as("seed %d", seed).isNotEqualTo(IN_ORDER);
        }
    }

    @Test
    void shouldNameTheOldestAllocationWhenAllTasksAreInUse() {
        run(
                1L,
                false,
                (engine, context) -> {
                    List<TinyTask> tasks = new ArrayList<>();
                    tasks.add(allocateOldest(context));
                    while (tasks.size() < TASKS) {
                        tasks.add(context.allocate());
                    }
                    Thrown.with(Status.NO_MEMORY, context::allocate)
                            .cause()
                            .extracting(Throwable::getStackTrace, as(ARRAY))
                            .extracting("methodName")
                            .contains("allocateOldest");
                    tasks.forEach(TinyTask::free);
                });
    }

    private static TinyTask allocateOldest(TinyContext context) {
        return context.allocate();
    }

    @Test
    void shouldDoTheSameAgainWithTheSameSeed() {
        for (long seed : new long[] {0, -1, Long.MAX_VALUE}) {
            assertThat(completions(seed, false)).isEqualTo(completions(seed, false));
        }
        assertThat(completions(1L, false)).isNotEqualTo(completions(2L, false));
    }

    @Test
    void shouldKeepAnOrderThatTheLibraryPromises() {
        for (long seed = 0; seed < SEEDS; seed++) {
            assertThat(completions(seed, true)).as("seed %d", seed).isEqualTo(IN_ORDER);
        }
    }

    @Test
    void shouldShowAProgramThatIgnoresAgain() {
        for (long seed = 0; seed < SEEDS; seed++) {
            List<Status> answers = new ArrayList<>();
            run(
                    seed,
                    false,
                    (engine, context) -> {
                        for (int i = 0; i < TASKS; i++) {
                            TinyTask task = context.allocate();
                            task.setCallback(TinyTask::free);
                            answers.add(task.trySubmit());
                            if (answers.getLast() == Status.AGAIN) {
                                task.free();
                            }
                        }
                    });
            assertThat(answers.getFirst()).as("nothing is in flight").isEqualTo(Status.SUCCESS);
            assertThat(answers).contains(Status.SUCCESS).isSubsetOf(Status.SUCCESS, Status.AGAIN);
            assertThat(reports).isEmpty();
            if (answers.contains(Status.AGAIN)) {
                return;
            }
        }
        throw new AssertionError("no seed has refused anything");
    }

    @Test
    void shouldThrowAgainWhereSubmitIsCalled() {
        boolean thrown = false;
        for (long seed = 0; seed < SEEDS && !thrown; seed++) {
            List<Status> refusals = new ArrayList<>();
            run(
                    seed,
                    false,
                    (engine, context) -> {
                        for (int i = 0; i < TASKS; i++) {
                            TinyTask task = context.allocate();
                            task.setCallback(TinyTask::free);
                            try {
                                task.submit();
                            } catch (DpuException e) {
                                refusals.add(e.status());
                                task.free();
                            }
                        }
                    });
            assertThat(refusals).containsOnly(Status.AGAIN);
            thrown = !refusals.isEmpty();
        }
        assertThat(thrown).isTrue();
    }

    @Test
    void shouldLetReportsWaitForALaterOneAndNeverStall() {
        boolean late = false;
        for (long seed = 0; seed < SEEDS; seed++) {
            List<String> ended = new ArrayList<>();
            run(
                    seed,
                    false,
                    (engine, context) -> {
                        TinyTask waiting = context.allocate();
                        waiting.setCallback(t -> ended.add("waiting"));
                        TinyTask later = context.allocate();
                        later.setCallback(t -> ended.add("later"));
                        submit(engine, waiting, SubmitFlags.OPTIMIZE_REPORTS);
                        submit(engine, later, SubmitFlags.NONE);
                        for (int i = 0; ended.size() < 2 && i < MAX_PASSES; i++) {
                            boolean unused = engine.progress();
                        }
                        submit(engine, waiting, SubmitFlags.OPTIMIZE_REPORTS);
                        for (int i = 0; ended.size() < 3 && i < MAX_PASSES; i++) {
                            assertThat(engine.progress())
                                    .as("it comes though none follows")
                                    .isTrue();
                        }
                        waiting.free();
                        later.free();
                    });
            assertThat(ended).hasSize(3).contains("later").endsWith("waiting");
            late |= ended.getFirst().equals("later");
        }
        assertThat(late).as("a report has waited").isTrue();
    }

    @Test
    void shouldNotSleepOverWhatItHoldsBack() {
        for (long seed = 0; seed < SEEDS; seed++) {
            int[] ended = new int[1];
            run(
                    seed,
                    false,
                    (engine, context) -> {
                        TinyTask task = context.allocate();
                        task.setCallback(t -> ended[0]++);
                        submit(engine, task, SubmitFlags.OPTIMIZE_REPORTS);
                        for (int i = 0; ended[0] == 0 && i < MAX_PASSES; i++) {
                            assertThat(engine.await(Patience.LIMIT)).isTrue();
                        }
                        task.submit();
                        for (int i = 0; ended[0] == 1 && i < MAX_PASSES; i++) {
                            engine.requestNotification();
                            assertThat(engine.awaitNotification(Patience.LIMIT)).isTrue();
                            engine.clearNotification();
                            boolean unused = engine.progress();
                        }
                        task.free();
                    });
            assertThat(ended[0]).isEqualTo(2);
        }
    }

    @Test
    void shouldGiveBackWhatItHoldsBeforeTheContextIsIdle() {
        for (long seed = 0; seed < SEEDS; seed++) {
            List<ContextState> ended = new ArrayList<>();
            run(
                    seed,
                    false,
                    (engine, context) -> {
                        TinyTask task = context.allocate();
                        task.setCallback(t -> {
                            ended.add(context.state());
                            t.free();
                        });
                        task.submit();
                        boolean unused = engine.progress(); // done, and held back perhaps
                        if (ended.isEmpty()) {
                            assertThat(context.inFlightTasks()).isEqualTo(1);
                            assertThat(engine.inFlightTasks()).isEqualTo(1);
                            assertThat(context.stop()).isEqualTo(Status.IN_PROGRESS);
                            end(engine, context);
                        }
                    });
            assertThat(ended).hasSize(1).isSubsetOf(ContextState.RUNNING, ContextState.STOPPING);
            assertThat(reports).isEmpty();
        }
    }

    @Test
    void shouldReportATaskThatWasNotFreedWithThePlaceOfItsAllocation() {
        run(
                7L,
                false,
                (engine, context) -> {
                    allocatedAndForgotten(context);
                    context.allocate().free();
                });
        assertThat(reports).hasSize(1);
        SanitizerReport report = reports.getFirst();
        assertThat(report.kind()).isEqualTo(Kind.TASK_LEAKED);
        assertThat(report.message()).contains("not freed", "task=TinyTask", "context=tiny");
        assertThat(report.seed()).isEqualTo(7);
        assertThat(report.allocatedAt()).isNotNull();
        assertThat(report.allocatedAt().getStackTrace())
                .extracting(StackTraceElement::getMethodName)
                .contains("allocatedAndForgotten");
    }

    private static void allocatedAndForgotten(TinyContext context) {
        TinyTask unused = context.allocate();
    }

    @Test
    void shouldReportTasksThatTheProgramHasLostTrackOf() {
        run(
                7L,
                false,
                (engine, context) -> {
                    TinyTask task = context.allocate();
                    context.completesByItself = false;
                    task.submit();
                    assertThat(task.trySubmit()).isEqualTo(Status.IN_USE);
                    Thrown.with(Status.IN_USE, task::free);
                    Thrown.with(Status.IN_USE, () -> task.setCallback(null));
                    context.completesByItself = true;
                    for (int i = 0; context.inFlightTasks() > 0 && i < MAX_PASSES; i++) {
                        boolean unused = engine.progress();
                    }
                    task.free();
                    Thrown.with(Status.BAD_STATE, task::free);
                    Thrown.with(Status.BAD_STATE, () -> task.setCallback(null));
                    assertThat(task.trySubmit()).isEqualTo(Status.BAD_STATE);
                });
        assertThat(reports).extracting(SanitizerReport::kind).containsOnly(Kind.TASK_MISUSED);
        assertThat(reports)
                .extracting(r -> r.message().substring(0, r.message().indexOf(':')))
                .containsExactly(
                        "task was submitted in flight",
                        "task was freed in flight",
                        "task was changed in flight",
                        "task was freed twice",
                        "task was changed after it was freed",
                        "task was submitted after it was freed");
    }

    @Test
    void shouldBeInUseUntilTheHeldBackCallbackHasRun() {
        for (long seed = 0; seed < SEEDS; seed++) {
            boolean[] held = new boolean[1];
            run(
                    seed,
                    false,
                    (engine, context) -> {
                        TinyTask task = context.allocate();
                        int[] ended = new int[1];
                        task.setCallback(t -> ended[0]++);
                        submit(engine, task, SubmitFlags.OPTIMIZE_REPORTS);
                        boolean unused = engine.progress();
                        held[0] = ended[0] == 0;
                        if (held[0]) {
                            Thrown.with(Status.IN_USE, task::free);
                        }
                        for (int i = 0; ended[0] == 0 && i < MAX_PASSES; i++) {
                            unused = engine.progress();
                        }
                        task.free();
                    });
            assertThat(held[0]).as("the report could wait").isTrue();
            assertThat(reports).hasSize(1);
        }
    }

    @Test
    void shouldFindNothingAboutAProgramThatIsRight() {
        for (long seed = 0; seed < SEEDS; seed++) {
            int[] left = {200};
            run(
                    seed,
                    false,
                    (engine, context) -> {
                        List<TinyTask> refused = new ArrayList<>();
                        for (int i = 0; i < TASKS; i++) {
                            TinyTask task = context.allocate();
                            task.setCallback(t -> {
                                if (--left[0] < TASKS) {
                                    t.free();
                                } else if (t.trySubmit() == Status.AGAIN) {
                                    refused.add(t);
                                }
                                refused.removeIf(waiting -> waiting.trySubmit() == Status.SUCCESS);
                            });
                            if (task.trySubmit() == Status.AGAIN) {
                                refused.add(task);
                            }
                        }
                        for (int i = 0; left[0] > 0 && i < MAX_PASSES; i++) {
                            boolean unused = engine.progress();
                        }
                        assertThat(context.pool().available()).isEqualTo(TASKS);
                    });
            assertThat(left[0]).as("seed %d", seed).isZero();
            assertThat(reports).as("seed %d", seed).isEmpty();
        }
    }

    @Test
    void shouldGoBackToTheOneThatWasOnBefore() {
        Sanitizer outside = Sanitizer.current();
        Long before = outside == null ? null : outside.seed();
        try (Sanitizer outer = Sanitizer.start(1)) {
            Sanitizer inner = Sanitizer.start(2);
            assertThat(Sanitizer.current().seed()).isEqualTo(2);
            outer.close();
            assertThat(Sanitizer.current().seed()).isEqualTo(2);
            inner.close();
            inner.close();
        }
        Sanitizer after = Sanitizer.current();
        assertThat(after == null ? null : after.seed()).isEqualTo(before);
    }

    @Test
    void shouldGoOnWhereTheListenerFails() {
        try (Sanitizer sanitizer = Sanitizer.start(1);
                ProgressEngine engine = ProgressEngine.create();
                TinyContext context = new TinyContext(device)) {
            sanitizer.setListener(report -> {
                throw new IllegalStateException("listener is broken");
            });
            engine.connect(context);
            context.start();
            TinyTask task = context.allocate();
            task.free();
            Thrown.with(Status.BAD_STATE, task::free).hasMessageContaining("freed already");
            assertThat(sanitizer.reports(Kind.TASK_MISUSED)).isEqualTo(1);
            assertThat(sanitizer.reports(Kind.TASK_LEAKED)).isZero();
            context.stop();
        }
    }

    @Test
    void shouldLeaveAloneWhatWasCreatedWithoutIt() {
        try (ProgressEngine engine = ProgressEngine.create();
                TinyContext context = new TinyContext(device)) {
            engine.connect(context);
            try (Sanitizer sanitizer = Sanitizer.start(1)) {
                context.start();
                TinyTask task = context.allocate();
                List<TinyTask> ended = new ArrayList<>();
                task.setCallback(ended::add);
                task.submit(SubmitFlags.OPTIMIZE_REPORTS);
                boolean unused = engine.progress();
                if (Sanitizer.current() == null) {
                    assertThat(ended).containsExactly(task);
                }
                context.stop();
                end(engine, context);
                assertThat(sanitizer.reports()).isZero();
            }
        }
    }
}
