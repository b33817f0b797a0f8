package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.check.Threads;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.TinyContext.TinyTask;
import io.softdpu.core.execution.TinyJobs.TinyJob;
import io.softdpu.testkit.AllocationMeter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Reasons of refused submissions of tasks and jobs, which their users can ask for afterwards. */
class RefusalTest {
    private static final int TASKS = 3;
    private static final int ROUNDS = 10_000;

    @TempDir Path folder;
    private Machines machines;
    private Device device;
    private ProgressEngine engine;
    private TinyContext context;
    private TinyJobs jobs;
    private WorkQueue queue;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        device = machines.device(Side.HOST, "pf0");
        engine = machines.add(ProgressEngine.create());
        context = machines.add(new TinyContext(device));
        context.setQueueDepth(TASKS);
        context.completesByItself = false;
        engine.connect(context);
        context.start();
        jobs = machines.add(new TinyJobs("jobs", device));
        jobs.start();
        queue = machines.add(WorkQueue.create(2));
        queue.add(jobs);
    }

    @AfterEach
    void close() throws Exception {
        context.completesByItself = true;
        while (context.inFlightTasks() > 0 || context.state() == ContextState.STOPPING) {
            engine.progress();
        }
        JobEvent event = JobEvent.create();
        while (queue.inFlightJobs() > 0) {
            queue.progressRetrieve(event);
        }
        machines.close();
    }

    /** A task that a submission refuses, for one reason each. */
    static Stream<Arguments> refusedTasks() {
        return Stream.of(
                refusal(
                        "freed",
                        Status.BAD_STATE,
                        "task was freed: owner=pool, expected=a task that is allocated",
                        test -> {
                            TinyTask task = test.context.allocate();
                            task.free();
                            return task;
                        }),
                refusal(
                        "in flight",
                        Status.IN_USE,
                        "task is in flight: owner=library, expected=its callback first",
                        test -> {
                            TinyTask task = test.context.allocate();
                            task.submit();
                            return task;
                        }),
                refusal(
                        "refused by the library",
                        Status.INVALID_VALUE,
                        "task is not valid: valid=false, expected=true",
                        test -> {
                            TinyTask task = test.context.allocate();
                            task.valid = false;
                            return task;
                        }),
                refusal(
                        "of a full queue",
                        Status.AGAIN,
                        "tiny queue is full: queued=all, expected=fewer",
                        test -> {
                            test.context.setQueueCapacity(0);
                            return test.context.allocate();
                        }),
                refusal(
                        "of a stopped context",
                        Status.BAD_STATE,
                        "context is not running: state=IDLE, expected=RUNNING",
                        test -> {
                            TinyTask task = test.context.allocate();
                            test.context.stop();
                            return task;
                        }),
                refusal(
                        "of a failed context",
                        Status.BAD_STATE,
                        "context is not running: state=STOPPING, failure=IO_FAILED,"
                                + " expected=RUNNING",
                        test -> {
                            TinyTask task = test.context.allocate();
                            test.context.breakDown(Status.IO_FAILED, "broken: cable=loose");
                            return task;
                        }));
    }

    private static Arguments refusal(
            String name, Status status, String message, Function<RefusalTest, TinyTask> refused) {
        return Arguments.of(name, status, message, refused);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("refusedTasks")
    void shouldNameReasonActualExpectedTaskAndContext(
            String name, Status status, String message, Function<RefusalTest, TinyTask> refused) {
        TinyTask task = refused.apply(this);
        assertThat(task.refusal()).as("before").isNull();

        assertThat(task.trySubmit()).isEqualTo(status);

        DpuException refusal = Objects.requireNonNull(task.refusal());
        assertThat(refusal.status()).isEqualTo(status);
        assertThat(refusal).hasMessage(message + ", task=TinyTask, context=" + context);
        assertThatThrownBy(task::submit).hasMessage(refusal.getMessage());
        if (message.contains("failure=")) {
            assertThat(refusal).hasCause(context.failure());
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("refusedTasks")
    void shouldNameTheReasonOnTheFirstRefusedTaskOfSeveral(
            String name, Status status, String message, Function<RefusalTest, TinyTask> refused) {
        TinyTask before = context.allocate();
        TinyTask task = refused.apply(this);
        boolean allRefused = context.state() != ContextState.RUNNING || status == Status.AGAIN;
        TinyTask[] tasks =
                allRefused ? new TinyTask[] {task, before} : new TinyTask[] {before, task};

        assertThat(context.trySubmitAll(tasks, 0, 2)).isEqualTo(allRefused ? 0 : 1);

        assertThat(task.refusal()).hasMessageStartingWith(message);
        assertThat(before.refusal()).as("accepted, or not tried").isNull();
    }

    @Test
    void shouldForgetTheReasonWithTheNextAcceptedSubmission() {
        TinyTask task = context.allocate();
        task.valid = false;
        assertThat(task.trySubmit()).isEqualTo(Status.INVALID_VALUE);
        assertThat(task.refusal()).isNotNull();
        task.valid = true;

        task.submit();
        assertThat(task.refusal()).as("in flight").isNull();
        assertThat(task.trySubmit()).isEqualTo(Status.IN_USE);
        assertThat(task.refusal()).as("refused in flight").isNotNull();
        context.completesByItself = true;
        engine.progress();

        assertThat(task.status()).isEqualTo(Status.SUCCESS);
        assertThat(task.refusal()).as("completed").isNull();
    }

    @Test
    void shouldForgetTheReasonWhenTheTaskIsFreed() {
        TinyTask task = context.allocate();
        task.valid = false;
        assertThat(task.trySubmit()).isEqualTo(Status.INVALID_VALUE);
        task.free();
        assertThat(task.refusal()).as("freed").isNull();
        assertThat(context.allocate()).isSameAs(task);
        assertThat(task.refusal()).as("allocated again").isNull();
    }

    @Test
    void shouldForgetTheReasonWithASubmissionAmongSeveral() {
        TinyTask task = context.allocate();
        task.valid = false;
        assertThat(context.trySubmitAll(new TinyTask[] {task}, 0, 1)).isZero();
        assertThat(task.refusal()).isNotNull();
        task.valid = true;
        assertThat(context.trySubmitAll(new TinyTask[] {task}, 0, 1)).isOne();
        assertThat(task.refusal()).isNull();
    }

    @Test
    void shouldKeepTheTaskWithItsUserAfterARefusal() {
        TinyTask task = context.allocate();
        task.valid = false;
        assertThat(task.trySubmit()).isEqualTo(Status.INVALID_VALUE);
        task.setCallback(null);
        task.setUserData(7);
        task.free();
    }

    @Test
    void shouldNameMissingFlags() {
        TinyTask task = context.allocate();
        assertThat(task.trySubmit(missingFlags())).isEqualTo(Status.INVALID_VALUE);
        assertThat(task.refusal()).hasMessageStartingWith("argument is null: argument=flags");
    }

    @SuppressWarnings({"NullAway", "DataFlowIssue"}) // a mistake of a user
    private static SubmitFlags missingFlags() {
        return (SubmitFlags) (Object) null;
    }

    @Test
    void shouldAllocateNothingWhenAQueueIsFull() {
        context.setQueueCapacity(0);
        TinyTask task = context.allocate();
        TinyTask[] several = {task};
        TinyJob first = jobs.job();
        TinyJob second = jobs.job();
        TinyJob third = jobs.job();
        queue.submit(first);
        queue.submit(second);
        AllocationMeter.assertNone(
                ROUNDS,
                () -> {
                    if (task.trySubmit() != Status.AGAIN
                            || context.trySubmitAll(several, 0, 1) != 0
                            || queue.trySubmit(third) != Status.NO_MEMORY) {
                        throw new AssertionError("accepted");
                    }
                });
        assertThat(task.refusal()).hasMessageStartingWith("tiny queue is full");
        assertThat(third.refusal()).hasMessageStartingWith("work queue is full");
    }

    // ---- jobs ----

    /** A job that a submission refuses, for one reason each. */
    static Stream<Arguments> refusedJobs() {
        return Stream.of(
                refusedJob(
                        "of a full queue",
                        Status.NO_MEMORY,
                        "work queue is full: inFlight=2, depth=2, expected=a job retrieved first",
                        test -> {
                            test.queue.submit(test.jobs.job());
                            test.queue.submit(test.jobs.job());
                            return test.jobs.job();
                        }),
                refusedJob(
                        "in flight",
                        Status.IN_USE,
                        "job is in flight: owner=library, expected=its retrieval first",
                        test -> {
                            TinyJob job = test.jobs.job();
                            test.queue.submit(job);
                            return job;
                        }),
                refusedJob(
                        "refused by the library",
                        Status.INVALID_VALUE,
                        "job is not valid: valid=false, expected=true",
                        test -> {
                            TinyJob job = test.jobs.job();
                            job.valid = false;
                            return job;
                        }),
                refusedJob(
                        "of another context",
                        Status.NOT_FOUND,
                        "queue was not added to the context of the job: queueThread="
                                + Threads.current()
                                + ", expected=WorkQueue.add",
                        test -> test.machines.add(new TinyJobs("other jobs", test.device)).job()));
    }

    private static Arguments refusedJob(
            String name, Status status, String message, Function<RefusalTest, TinyJob> refused) {
        return Arguments.of(name, status, message, refused);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("refusedJobs")
    void shouldNameReasonActualExpectedAndJob(
            String name, Status status, String message, Function<RefusalTest, TinyJob> refused) {
        TinyJob job = refused.apply(this);
        assertThat(job.refusal()).as("before").isNull();

        assertThat(queue.trySubmit(job)).isEqualTo(status);

        DpuException refusal = Objects.requireNonNull(job.refusal());
        assertThat(refusal.status()).isEqualTo(status);
        assertThat(refusal).hasMessage(message + ", job=" + job);
        assertThatThrownBy(() -> queue.submit(job)).hasMessage(refusal.getMessage());
    }

    @Test
    void shouldNameTheFailureOfTheContextOfAJob() {
        TinyJob breaks = jobs.job();
        breaks.breaksContext = true;
        breaks.outcome = Status.IO_FAILED;
        TinyJob job = jobs.job();
        queue.submit(breaks);
        JobEvent event = JobEvent.create();
        while (queue.inFlightJobs() > 0) {
            queue.progressRetrieve(event);
        }

        assertThat(queue.trySubmit(job)).isEqualTo(Status.BAD_STATE);

        assertThat(job.refusal())
                .hasMessageStartingWith(
                        "context is not running: state=STOPPING, failure=IO_FAILED,"
                                + " expected=RUNNING")
                .hasCause(jobs.failure());
    }

    @Test
    void shouldForgetTheReasonWithTheNextAcceptedJob() {
        TinyJob job = jobs.job();
        job.valid = false;
        assertThat(queue.trySubmit(job)).isEqualTo(Status.INVALID_VALUE);
        assertThat(job.refusal()).isNotNull();
        job.valid = true;
        queue.submit(job);
        assertThat(job.refusal()).isNull();
    }
}
