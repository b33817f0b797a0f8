package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.execution.TinyJobs.TinyJob;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One context on the work queues of four threads, each of which also stops and breaks it. */
class ContextThreadsTest {
    private static final int THREADS = 4;
    private static final int DEPTH = 3;
    private static final int EACH_EVENT = Soak.count(20, 20, 2_000);

    @TempDir Path folder;
    private Machines machines;
    private TinyJobs context;
    private final AtomicInteger restarts = new AtomicInteger();
    private final AtomicInteger failures = new AtomicInteger();

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        context = machines.add(new TinyJobs("tiny", machines.device(Side.HOST, "pf0")));
        context.start();
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    /** Each thread makes random calls until both kinds of ends have happened often enough. */
    @Test
    @Tag(Soak.TAG)
    @Clause("core-147")
    void shouldServeFourThreadsAgainstStopsAndFatalErrors(SeededRandom random) throws Exception {
        long began = System.nanoTime();
        int succeeded = 0;
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        CyclicBarrier begin = new CyclicBarrier(THREADS);
        try {
            List<Callable<Integer>> works = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                SeededRandom own = random.fork();
                works.add(() -> {
                    begin.await(Patience.SECONDS, TimeUnit.SECONDS);
                    return new Program(own).run();
                });
            }
            for (Future<Integer> done : pool.invokeAll(works)) {
                succeeded += done.get();
            }
            assertThat(succeeded).as("jobs that have succeeded").isPositive();
        } finally {
            pool.shutdownNow();
        }
        Soak.report(
                "context-threads",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - began),
                Text.format("restarts=%s, failures=%s, jobs=%d", restarts, failures, succeeded));
        assertThat(context.stop()).isEqualTo(Status.SUCCESS);
        assertThat(context.state()).as("no queue is left").isEqualTo(ContextState.IDLE);
        context.start();
        assertThat(context.failure()).isNull();
        try (WorkQueue queue = WorkQueue.create(1)) {
            queue.add(context);
            queue.submit(context.job());
            assertThat(queue.progressRetrieve(JobEvent.create())).isEqualTo(Status.SUCCESS);
        }
    }

    /** A lower bound: each restart follows a stop, or a failure that was counted before. */
    private int stops() {
        return restarts.get() - failures.get();
    }

    /** A call, whose status has to be one of those expected. */
    private static Status statusOf(Supplier<Status> call, Set<Status> expected) {
        Status status;
        try {
            status = call.get();
        } catch (DpuException e) {
            status = e.status();
            assertThat(expected).as("%s", e).contains(status);
        }
        assertThat(expected).contains(status);
        return status;
    }

    /** The calls of one thread, on its own queue. */
    private final class Program {
        private final SeededRandom random;
        private final JobEvent event = JobEvent.create();
        private final List<TinyJob> free = new ArrayList<>();
        private boolean isAdded;
        private int inFlight;
        private int succeeded;

        Program(SeededRandom random) {
            this.random = random;
            for (int i = 0; i < DEPTH; i++) {
                free.add(context.job());
            }
        }

        int run() {
            long until = System.nanoTime() + Patience.DEADLINE.toNanos();
            try (WorkQueue queue = WorkQueue.create(DEPTH)) {
                while (stops() < EACH_EVENT || failures.get() < EACH_EVENT || succeeded == 0) {
                    assertThat(System.nanoTime())
                            .as(
                                    "restarts=%s, failures=%s, succeeded=%d",
                                    restarts, failures, succeeded)
                            .isLessThan(until);
                    step(queue);
                }
                while (inFlight > 0) {
                    assertThat(System.nanoTime()).isLessThan(until);
                    retrieve(queue);
                }
                if (isAdded) {
                    queue.remove(context);
                }
            }
            assertThat(free).as("each job was retrieved").hasSize(DEPTH).doesNotHaveDuplicates();
            return succeeded;
        }

        private void step(WorkQueue queue) {
            switch ((int) random.between(0, 9)) {
                case 0, 1 -> add(queue);
                case 2 -> remove(queue);
                case 3, 4, 5 -> submit(queue, random.chance(0.05));
                case 6 -> stop();
                case 7 -> start();
                default -> retrieve(queue);
            }
        }

        private void add(WorkQueue queue) {
            if (!isAdded) {
                Status status =
                        statusOf(
                                () -> {
                                    queue.add(context);
                                    return Status.SUCCESS;
                                },
                                EnumSet.of(Status.SUCCESS, Status.BAD_STATE));
                isAdded = status == Status.SUCCESS;
            }
        }

        private void remove(WorkQueue queue) {
            while (inFlight > 0) {
                retrieve(queue);
            }
            if (isAdded) {
                queue.remove(context);
                isAdded = false;
            }
        }

        private void submit(WorkQueue queue, boolean breaks) {
            if (free.isEmpty()) {
                return;
            }
            TinyJob job = free.removeLast();
            job.breaksContext = breaks;
            job.outcome = breaks ? Status.DRIVER : Status.SUCCESS;
            job.setSlices(1 + random.nextInt(2));
            Status status = queue.trySubmit(job);
            if (status == Status.SUCCESS) {
                assertThat(isAdded).isTrue();
                inFlight++;
            } else {
                assertThat(status).isEqualTo(isAdded ? Status.BAD_STATE : Status.NOT_FOUND);
                free.add(job);
            }
        }

        private void retrieve(WorkQueue queue) {
            Status status = queue.progressRetrieve(event);
            if (status == Status.AGAIN) {
                return;
            }
            inFlight--;
            TinyJob job = (TinyJob) event.job();
            free.add(job);
            if (status == Status.SUCCESS) {
                assertThat(job.breaksContext).isFalse();
                succeeded++;
                return;
            }
            assertThat(status).isEqualTo(Status.IO_FAILED);
            if (event.status() == Status.DRIVER) {
                assertThat(job.breaksContext).isTrue();
                failures.incrementAndGet();
            } else {
                assertThat(event.status()).as("flushed").isEqualTo(Status.SHUTDOWN);
            }
        }

        /** Refused while a queue is on the context, this thread's or another's. */
        private void stop() {
            Status status =
                    statusOf(
                            context::stop,
                            EnumSet.of(Status.SUCCESS, Status.NOT_PERMITTED, Status.IN_PROGRESS));
            if (status == Status.SUCCESS) {
                assertThat(isAdded).as("stopped with a queue").isFalse();
            }
        }

        private void start() {
            Status status = statusOf(context::start, EnumSet.of(Status.SUCCESS, Status.BAD_STATE));
            if (status == Status.SUCCESS) {
                assertThat(isAdded).as("started with a queue").isFalse();
                restarts.incrementAndGet();
            }
        }
    }
}
