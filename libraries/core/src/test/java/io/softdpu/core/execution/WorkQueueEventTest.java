package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.TinyJobs.TinyJob;
import io.softdpu.linux.Epoll;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A work queue's event handle, watched from outside by an epoll as a program's own loop would. */
class WorkQueueEventTest {
    private static final int NOW = 0;
    private static final int DEADLINE_MILLIS = (int) Patience.LIMIT.toMillis();
    private static final long POLLED_CPU_NANOS = 50_000_000;

    /** More than any test here needs: what is left then fails the close of its machine. */
    private static final int MAX_PASSES = 10_000;

    @TempDir Path folder;
    private Machines machines;
    private Device device;
    private TinyJobs context;
    private WorkQueue queue;
    private Epoll loop;
    private final JobEvent event = JobEvent.create();

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        device = machines.device(Side.HOST, "pf0");
        context = machines.add(new TinyJobs("tiny", device));
        context.start();
        queue = machines.add(WorkQueue.create(4));
        queue.add(context);
        loop = machines.add(new Epoll(4));
    }

    @AfterEach
    void close() throws Exception {
        for (int passes = 0; queue.inFlightJobs() > 0 && passes < MAX_PASSES; passes++) {
            queue.progressRetrieve(event);
        }
        machines.close();
    }

    private void eventDriven() {
        queue.setEventDriven(true);
        loop.add(queue.eventHandle(), Epoll.IN, 1);
    }

    @Test
    @Clause({"core-136", "core-141", "core-152"})
    void shouldPollUnlessToldOtherwiseAndNeverBoth() {
        assertThat(queue.isEventDriven()).isFalse();
        Thrown.with(Status.BAD_STATE, queue::eventHandle).hasMessageContaining("polling mode");
        Thrown.with(Status.BAD_STATE, queue::armEvent).hasMessageContaining("polling mode");
        Thrown.with(Status.BAD_STATE, queue::clearEvent).hasMessageContaining("polling mode");
        Thrown.with(Status.BAD_STATE, () -> queue.awaitEvent(Duration.ZERO));
        queue.setEventDriven(true);
        assertThat(queue.isEventDriven()).isTrue();
        queue.setEventDriven(false);
        assertThat(queue.isEventDriven()).isFalse();
        Thrown.with(Status.BAD_STATE, queue::eventHandle).hasMessageContaining("polling mode");
        Thrown.with(Status.BAD_STATE, queue::armEvent).hasMessageContaining("polling mode");
        queue.submit(context.job());
        Thrown.with(Status.BAD_STATE, () -> queue.setEventDriven(true))
                .hasMessageContaining("before the first submission");
        assertThat(queue.isEventDriven()).isFalse();

        WorkQueue waiting = machines.add(WorkQueue.create(1));
        waiting.setEventDriven(true);
        int handle = waiting.eventHandle();
        waiting.armEvent();
        Thrown.with(Status.BAD_STATE, () -> waiting.setEventDriven(false))
                .hasMessageContaining("before the first submission");
        assertThat(waiting.isEventDriven()).isTrue();
        assertThat(waiting.eventHandle()).isEqualTo(handle);
    }

    @Test
    @Clause({"core-158", "core-160"})
    void shouldWakeAWaiterOnItsHandleByACompletion() {
        eventDriven();
        queue.armEvent();
        assertThat(loop.await(NOW)).as("nothing was submitted").isZero();
        queue.submit(context.job());
        assertThat(loop.await(DEADLINE_MILLIS)).isEqualTo(1);
        queue.clearEvent();
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.SUCCESS);
    }

    /** A job in flight that progress can do nothing for does not keep the queue from a signal. */
    @Test
    @Clause("core-158")
    void shouldWakeAWaiterForAJobBesideOneThatTakesLonger() {
        eventDriven();
        context.waits = true;
        queue.submit(context.job());
        queue.armEvent();
        assertThat(loop.await(NOW)).as("nothing can be done for it").isZero();
        TinyJob done = context.job();
        done.atOnce = true;
        queue.submit(done);
        assertThat(loop.await(DEADLINE_MILLIS)).isEqualTo(1);
        queue.clearEvent();
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.SUCCESS);
        assertThat(event.job()).isSameAs(done);
    }

    @Test
    @Clause("core-161")
    void shouldSignalOnceForOneArmingThoughItIsNotCleared() {
        eventDriven();
        queue.armEvent();
        queue.submit(context.job());
        assertThat(queue.awaitEvent(Duration.ZERO)).as("for what came after the arming").isTrue();
        queue.submit(context.job());
        assertThat(loop.await(NOW)).as("not armed anew").isZero();
        queue.armEvent();
        assertThat(queue.awaitEvent(Duration.ZERO)).as("for what was there already").isTrue();
        queue.submit(context.job());
        assertThat(loop.await(NOW)).as("not armed anew").isZero();
    }

    @Test
    @Clause({"core-161", "core-162"})
    void shouldSignalOnceForEachTimeItWasArmedUntilItIsCleared() {
        eventDriven();
        queue.submit(context.job());
        queue.submit(context.job());
        assertThat(loop.await(NOW)).as("not armed").isZero();
        queue.armEvent();
        assertThat(loop.await(DEADLINE_MILLIS)).isEqualTo(1);
        assertThat(loop.await(NOW)).as("not cleared").isEqualTo(1);
        queue.clearEvent();
        assertThat(loop.await(NOW)).as("cleared").isZero();
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.SUCCESS);
        assertThat(loop.await(NOW)).as("not armed anew for the second job").isZero();
        queue.armEvent();
        assertThat(loop.await(DEADLINE_MILLIS)).isEqualTo(1);
        queue.clearEvent();
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.SUCCESS);
    }

    @Test
    @Clause({"core-163", "core-164"})
    void shouldArmWaitClearAndRetrieveUntilAllAreDone() {
        eventDriven();
        int handle = queue.eventHandle();
        int done = 0;
        int again = 0;
        queue.armEvent();
        assertThat(loop.await(NOW)).as("nothing was submitted").isZero();
        for (int i = 0; i < 4; i++) {
            TinyJob job = context.job();
            job.setSlices(2);
            queue.submit(job);
        }
        while (done < 4) {
            assertThat(loop.await(DEADLINE_MILLIS)).isEqualTo(1);
            queue.clearEvent();
            assertThat(loop.await(NOW)).as("cleared, and not armed").isZero();
            Status retrieved = queue.progressRetrieve(event);
            if (retrieved == Status.SUCCESS) {
                done++;
            } else {
                assertThat(retrieved).isEqualTo(Status.AGAIN);
                again++;
            }
            assertThat(loop.await(NOW)).as("not armed").isZero();
            queue.armEvent();
        }
        assertThat(again).as("a signal that brought no completion").isPositive();
        assertThat(loop.await(NOW)).as("all is done").isZero();
        assertThat(queue.eventHandle()).isEqualTo(handle);
    }

    @Test
    @Clause({"core-151", "core-164"})
    void shouldSignalTheJobsOfEachContextAndThoseThatHaveEndedAlready() {
        TinyJobs second = machines.add(new TinyJobs("second", device));
        second.start();
        queue.add(second);
        eventDriven();
        retrieveBySignals(context, 3, second, 1);
        retrieveBySignals(context, 1, second, 3);
        retrieveBySignals(context, 2, second, 2);
        queue.remove(second);
        second.stop();
    }

    /** Submits a job of so many slices to each, and retrieves once for each signal. */
    private void retrieveBySignals(TinyJobs first, int slices, TinyJobs second, int more) {
        TinyJob one = first.job();
        one.setSlices(slices);
        queue.submit(one);
        TinyJob other = second.job();
        other.setSlices(more);
        queue.submit(other);
        List<Job> retrieved = new ArrayList<>();
        for (int signals = 0; retrieved.size() < 2 && signals < 10; signals++) {
            queue.armEvent();
            assertThat(loop.await(NOW)).as("after %s", retrieved).isEqualTo(1);
            queue.clearEvent();
            if (queue.progressRetrieve(event) == Status.SUCCESS) {
                retrieved.add(event.job());
            }
        }
        assertThat(retrieved).containsExactlyInAnyOrder(one, other);
    }

    @Test
    void shouldUseTheProcessorWhileItIsPolledForNothingAndNotWhileItWaits() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long begin = threads.getCurrentThreadCpuTime();
        while (threads.getCurrentThreadCpuTime() - begin < POLLED_CPU_NANOS) {
            assertThat(queue.progressRetrieve(event)).isEqualTo(Status.AGAIN);
        }
        try (WorkQueue waiting = WorkQueue.create(1)) {
            waiting.setEventDriven(true);
            waiting.add(context);
            waiting.armEvent();
            begin = threads.getCurrentThreadCpuTime();
            assertThat(waiting.awaitEvent(Duration.ofNanos(4 * POLLED_CPU_NANOS))).isFalse();
            assertThat(threads.getCurrentThreadCpuTime() - begin).isLessThan(POLLED_CPU_NANOS);
        }
    }

    @Test
    void shouldSignalAtOnceWhatHasEndedAlready() {
        eventDriven();
        TinyJob job = context.job();
        job.atOnce = true;
        queue.submit(job);
        assertThat(loop.await(NOW)).as("not armed").isZero();
        queue.armEvent();
        assertThat(loop.await(NOW)).isEqualTo(1);
        assertThat(queue.awaitEvent(Duration.ZERO)).isTrue();
        assertThat(queue.awaitEvent(Duration.ZERO)).as("taken").isFalse();
        queue.clearEvent();
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.SUCCESS);
        Thrown.with(Status.INVALID_VALUE, () -> queue.awaitEvent(Duration.ofNanos(-1)));
    }

    @Test
    void shouldSignalThatJobsHaveToBeFlushed() {
        eventDriven();
        queue.submit(context.job());
        queue.submit(context.job());
        context.defect = new IllegalStateException("memory is gone");
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.INVALID_VALUE);
        for (int i = 0; i < 2; i++) {
            queue.armEvent();
            assertThat(loop.await(NOW)).isEqualTo(1);
            queue.clearEvent();
            assertThat(queue.progressRetrieve(event)).isEqualTo(Status.IO_FAILED);
        }
    }

    @Test
    void shouldSignalThatTheContextHasFailedOnAnotherThread() throws Exception {
        eventDriven();
        context.waits = true;
        queue.submit(context.job());
        queue.armEvent();
        assertThat(loop.await(NOW)).isZero();
        assertThat(onAnotherThread(this::breakContext)).isEqualTo(Status.IO_FAILED);
        assertThat(loop.await(DEADLINE_MILLIS)).as("its job has to be flushed").isEqualTo(1);
        queue.clearEvent();
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.IO_FAILED);
        assertThat(event.status()).isEqualTo(Status.SHUTDOWN);
        assertThat(context.state()).isEqualTo(ContextState.STOPPING);
        queue.remove(context);
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
    }

    @Test
    @Clause("core-161")
    void shouldNotSignalAFailureOnAnotherThreadUnlessItIsArmed() throws Exception {
        eventDriven();
        context.waits = true;
        queue.submit(context.job());
        assertThat(onAnotherThread(this::breakContext)).isEqualTo(Status.IO_FAILED);
        assertThat(loop.await(NOW)).as("not armed").isZero();
        queue.armEvent();
        assertThat(loop.await(NOW)).as("its job has to be flushed").isEqualTo(1);
        queue.clearEvent();
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.IO_FAILED);
        queue.remove(context);
    }

    @Test
    @Clause("core-164")
    void shouldSignalThatTheContextHasFailedOnAnotherQueueOfTheThread() {
        eventDriven();
        context.waits = true;
        queue.submit(context.job());
        queue.armEvent();
        assertThat(loop.await(NOW)).isZero();
        assertThat(breakContext()).isEqualTo(Status.IO_FAILED);
        assertThat(loop.await(NOW)).as("its job has to be flushed").isEqualTo(1);
        queue.clearEvent();
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.IO_FAILED);
        assertThat(event.status()).isEqualTo(Status.SHUTDOWN);
        queue.remove(context);
    }

    private static Status onAnotherThread(Supplier<Status> work) throws Exception {
        CompletableFuture<Status> done = new CompletableFuture<>();
        Thread other =
                Thread.ofPlatform()
                        .start(() -> {
                            try {
                                done.complete(work.get());
                            } catch (Throwable e) {
                                done.completeExceptionally(e);
                            }
                        });
        Status result = done.get(Patience.SECONDS, TimeUnit.SECONDS);
        other.join();
        return result;
    }

    private Status breakContext() {
        try (WorkQueue own = WorkQueue.create(1)) {
            own.add(context);
            TinyJob job = context.job();
            job.breaksContext = true;
            job.outcome = Status.DRIVER;
            own.submit(job);
            return own.progressRetrieve(JobEvent.create());
        }
    }

    @Test
    @Clause({"core-142", "core-159"})
    void shouldRefuseContextsThatCanOnlyBePolled() {
        assertThat(context.isEventDrivenSupported()).isTrue();
        TinyJobs pollOnly = machines.add(new TinyJobs("poll only", device));
        pollOnly.eventDriven = false;
        assertThat(pollOnly.isEventDrivenSupported()).isFalse();
        pollOnly.start();
        queue.add(pollOnly);
        Thrown.with(Status.NOT_SUPPORTED, () -> queue.setEventDriven(true))
                .hasMessageContaining("poll only");
        assertThat(queue.isEventDriven()).as("as it was").isFalse();
        queue.remove(pollOnly);
        WorkQueue polled = machines.add(WorkQueue.create(1));
        polled.add(pollOnly);
        polled.add(context);
        Thrown.with(Status.NOT_SUPPORTED, () -> polled.setEventDriven(true))
                .hasMessageContaining("poll only");
        assertThat(polled.isEventDriven()).as("as it was").isFalse();
        polled.close();
        queue.setEventDriven(true);
        Thrown.with(Status.NOT_SUPPORTED, () -> queue.add(pollOnly))
                .hasMessageContaining("poll only");
        assertThat(queue.trySubmit(pollOnly.job())).isEqualTo(Status.NOT_FOUND);
        assertThat(queue.trySubmit(context.job())).isEqualTo(Status.SUCCESS);
    }
}
