package io.softdpu.core.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.JobType;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.testkit.AllocationMeter;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Asynchronous mode on work queues. */
class SyncEventJobsTest extends SyncEventFixture {
    private static final int DEPTH = 4;

    private final JobEvent event = JobEvent.create();
    private final List<Runnable> ends = new ArrayList<>();

    @AfterEach
    void end() {
        ends.reversed().forEach(Runnable::run);
    }

    private SyncEventContext context(SyncEvent of) {
        SyncEventContext context = of.asContext();
        context.start();
        return context;
    }

    private WorkQueue queue(SyncEventContext context, boolean eventDriven) {
        WorkQueue queue = WorkQueue.create(DEPTH).setEventDriven(eventDriven);
        queue.add(context);
        ends.add(queue::close);
        return queue;
    }

    private long done(WorkQueue queue, Job job) {
        queue.submit(job);
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.SUCCESS);
        assertThat(event.job()).isSameAs(job);
        return event.result();
    }

    @Test
    @Clause({"core-189", "core-191", "core-193"})
    void shouldGetSetAndAddByJobs() {
        SyncEventContext context = context(configured());
        WorkQueue queue = queue(context, false);
        SyncEventSetJob set = context.createSetJob(5).setUserData(8);
        SyncEventAddJob add = context.createAddJob(2);
        SyncEventGetJob get = context.createGetJob();
        assertThat(done(queue, set)).isZero();
        assertThat(event.userData()).isEqualTo(8);
        assertThat(event.type()).isEqualTo(SyncEventContext.SET_JOB);
        assertThat(done(queue, add)).isEqualTo(5);
        assertThat(add.previous()).isEqualTo(5);
        assertThat(done(queue, get)).isEqualTo(7);
        assertThat(get.value()).isEqualTo(7);
        set.setValue(-1);
        assertThat(done(queue, set)).isZero();
        assertThat(done(queue, add.setIncrement(3))).isEqualTo(-1);
        assertThat(done(queue, get)).isEqualTo(2);
    }

    /** Of each synchronous function, by a job that no other type of job could stand for. */
    @Test
    @Clause("core-185")
    void shouldHaveAJobTypeOfItsOwnForEachSynchronousFunction() {
        SyncEvent synchronous = started();
        synchronous.set(40);
        assertThat(synchronous.add(2)).isEqualTo(40);
        synchronous.waitGreater(41, ALL);
        assertThat(synchronous.get()).isEqualTo(42);
        Thrown.with(Status.BAD_STATE, synchronous::asContext);

        SyncEvent event = configured();
        SyncEventContext context = context(event);
        WorkQueue queue = queue(context, false);
        Thrown.with(Status.BAD_STATE, () -> event.set(40));
        Map<JobType, Long> results = new LinkedHashMap<>();
        for (Job job :
                List.of(
                        context.createSetJob(40),
                        context.createAddJob(2),
                        context.createWaitGreaterJob(41, ALL),
                        context.createGetJob())) {
            long result = done(queue, job);
            assertThat(this.event.type()).isEqualTo(job.type());
            assertThat(results.put(job.type(), result)).as("%s", job).isNull();
        }
        assertThat(results)
                .containsExactly(
                        Map.entry(SyncEventContext.SET_JOB, 0L),
                        Map.entry(SyncEventContext.ADD_JOB, 40L),
                        Map.entry(SyncEventContext.WAIT_GREATER_JOB, 42L),
                        Map.entry(SyncEventContext.GET_JOB, 42L));
    }

    @Test
    @Clause({"core-196", "core-198"})
    void shouldPollForTheEndOfAWait() {
        SyncEvent shared = configured();
        SyncEventContext context = context(shared);
        SyncEvent other = imported(shared).start();
        WorkQueue queue = queue(context, false);
        SyncEventWaitJob wait = context.createWaitGreaterJob(6, 0xff);
        queue.submit(wait); // does not block
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.AGAIN);
        other.set(6);
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.AGAIN);
        other.set(0x106);
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.AGAIN);
        other.set(0x107);
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.SUCCESS);
        assertThat(event.result()).isEqualTo(0x107);
        assertThat(wait.value()).isEqualTo(0x107);
        assertThat(done(queue, wait.setThreshold(1))).isEqualTo(0x107);
        Thrown.with(Status.INVALID_VALUE, () -> wait.setMask(0xf));
    }

    @Test
    @Clause("core-197")
    void shouldSleepOnTheHandleOfTheQueueUntilTheEndOfAWait() {
        SyncEvent shared = configured();
        SyncEventContext context = context(shared);
        SyncEvent other = imported(shared).start();
        WorkQueue queue = queue(context, true);
        for (int round = 1; round <= 3; round++) {
            queue.submit(context.createWaitGreaterJob(round - 1, ALL));
            assertThat(queue.progressRetrieve(event)).isEqualTo(Status.AGAIN);
            queue.armEvent();
            assertThat(queue.awaitEvent(Duration.ZERO)).isFalse();
            other.add(1);
            assertThat(queue.awaitEvent(Patience.LIMIT)).isTrue();
            queue.clearEvent();
            assertThat(queue.progressRetrieve(event)).isEqualTo(Status.SUCCESS);
            assertThat(event.result()).isEqualTo(round);
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
                "update submit end submit"
            })
    @Clause("core-197")
    void shouldNotSleepForAWaitThatCouldEndBeforeTheQueueWasArmed(String steps) {
        SyncEvent shared = configured();
        SyncEventContext context = context(shared);
        SyncEvent other = imported(shared).start();
        WorkQueue queue = queue(context, true);
        for (String step : steps.split(" ")) {
            switch (step) {
                case "update" -> other.set(1);
                case "submit" -> queue.submit(context.createWaitGreaterJob(0, ALL));
                case "look" -> assertThat(queue.progressRetrieve(event)).isEqualTo(Status.AGAIN);
                default -> assertThat(queue.progressRetrieve(event)).isEqualTo(Status.SUCCESS);
            }
        }
        queue.armEvent();
        assertThat(queue.awaitEvent(Patience.LIMIT)).isTrue();
        queue.clearEvent();
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.SUCCESS);
        assertThat(event.result()).isEqualTo(1);
    }

    @Test
    @Clause("core-226")
    void shouldWaitByGetJobsAndAComparison() {
        SyncEvent shared = configured();
        SyncEventContext context = context(shared);
        SyncEvent other = imported(shared).start();
        WorkQueue queue = queue(context, false);
        SyncEventGetJob get = context.createGetJob();
        int rounds = 0;
        while (done(queue, get) <= 2) {
            rounds++;
            if (rounds <= 3) {
                other.add(1);
            }
        }
        assertThat(event.result()).isEqualTo(3);
        assertThat(rounds).isEqualTo(3);
    }

    @Test
    void shouldFailJobsOfAHandleWhoseEventWasDestroyedAlone() {
        SyncEvent shared = started();
        SyncEvent handle = imported(shared);
        SyncEventContext context = context(handle);
        WorkQueue queue = queue(context, true);
        queue.submit(context.createWaitGreaterJob(0, ALL));
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.AGAIN);
        queue.armEvent();
        shared.stop();
        shared.close();
        assertThat(queue.awaitEvent(Patience.LIMIT)).isTrue();
        queue.clearEvent();
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.IO_FAILED);
        assertThat(event.status()).isEqualTo(Status.SHUTDOWN);
        SyncEventGetJob get = context.createGetJob();
        assertThat(queue.trySubmit(get)).isEqualTo(Status.SHUTDOWN);
        assertThat(get.refusal()).hasMessageContaining("destroyed");
        assertThat(context.failure()).isNull();
    }

    /** Its link does not end then, since it may have the memory mapped still. */
    @Test
    void shouldWakeAHandleOfMemoryOfTheProgramWhoseEventIsDestroyed() {
        SharedMemory memory = machines.add(SharedMemory.allocate(8));
        SyncEvent shared = configured().setMemory(memory).start();
        SyncEventContext context = context(imported(shared));
        WorkQueue queue = queue(context, true);
        queue.submit(context.createWaitGreaterJob(0, ALL));
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.AGAIN);
        queue.armEvent();
        assertThat(queue.awaitEvent(Duration.ZERO)).isFalse();
        shared.stop();
        shared.close();
        assertThat(queue.awaitEvent(Patience.LIMIT)).isTrue();
        queue.clearEvent();
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.IO_FAILED);
        assertThat(event.status()).isEqualTo(Status.SHUTDOWN);
    }

    @Test
    void shouldRefuseToStopOrCloseWhileOnAQueue() {
        SyncEvent shared = configured();
        SyncEventContext context = context(shared);
        WorkQueue queue = queue(context, false);
        Thrown.with(Status.NOT_PERMITTED, context::stop);
        Thrown.with(Status.IN_USE, shared::close);
        queue.remove(context);
        assertThat(context.stop()).isEqualTo(Status.SUCCESS);
        shared.close();
    }

    /** The order in which a program gives up a wait. */
    @Test
    void shouldEndAWaitThatIsGivenUpByAnUpdate() {
        SyncEvent shared = configured();
        SyncEventContext context = context(shared);
        WorkQueue queue = queue(context, false);
        SyncEventWaitJob wait = context.createWaitGreaterJob(0, ALL);
        queue.submit(wait);
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.AGAIN);
        Thrown.with(Status.NOT_PERMITTED, () -> queue.remove(context));
        Thrown.with(Status.IN_USE, queue::close);
        Thrown.with(Status.NOT_PERMITTED, context::stop);
        queue.submit(context.createSetJob(1));
        int ended = 0;
        while (ended < 2) {
            Status status = queue.progressRetrieve(event);
            assertThat(status).isIn(Status.SUCCESS, Status.AGAIN);
            ended += status == Status.SUCCESS ? 1 : 0;
        }
        assertThat(wait.value()).isEqualTo(1);
        queue.close();
        assertThat(context.stop()).isEqualTo(Status.SUCCESS);
        shared.close();
    }

    /**
     * Several threads sleep on queues of one handle, and of others of the same event: one update
     * wakes all.
     */
    @Test
    void shouldWakeEveryQueueOfEveryHandle() throws Exception {
        SyncEvent shared = configured();
        List<SyncEventContext> contexts = new ArrayList<>();
        contexts.add(context(shared));
        contexts.add(contexts.getFirst());
        for (int i = 0; i < 2; i++) {
            SyncEventContext ofDpu = context(imported(shared));
            contexts.add(ofDpu);
            contexts.add(ofDpu);
        }
        SyncEvent updating = imported(shared).start();
        CountDownLatch asleep = new CountDownLatch(contexts.size());
        List<CompletableFuture<Long>> woken = new ArrayList<>();
        for (SyncEventContext context : contexts) {
            woken.add(
                    CompletableFuture.supplyAsync(
                            () -> sleepUntil(context, 1, asleep),
                            work -> Thread.ofPlatform().start(work)));
        }
        assertThat(asleep.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        updating.set(2);
        for (CompletableFuture<Long> each : woken) {
            assertThat(each.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(2);
        }
    }

    /** It does not know the link of that handle, and no other thread serves it. */
    @Test
    void shouldWakeACpuHandleThatSleepsForOneThatJoinsLater() {
        SyncEvent shared = configured();
        QueueWaiter waiter = QueueWaiter.sleep(context(shared), 0);
        SyncEvent late = imported(shared).start();
        late.set(1);
        assertThat(waiter.value()).isEqualTo(1);
    }

    /**
     * It has slept without telling of it, as the only one, and no thread of the CPU handle does.
     */
    @Test
    void shouldWakeADpuHandleThatSleepsForOneThatJoinsLater() {
        SyncEvent shared = started();
        QueueWaiter waiter = QueueWaiter.sleep(context(imported(shared)), 0);
        SyncEvent late = imported(shared).start();
        late.set(1);
        assertThat(waiter.value()).isEqualTo(1);
    }

    private static long sleepUntil(SyncEventContext context, long above, CountDownLatch asleep) {
        JobEvent event = JobEvent.create();
        try (WorkQueue queue = WorkQueue.create(1).setEventDriven(true)) {
            queue.add(context);
            queue.submit(context.createWaitGreaterJob(above, ALL));
            boolean told = false;
            while (true) {
                Status status = queue.progressRetrieve(event);
                if (status == Status.SUCCESS) {
                    return event.result();
                }
                if (status != Status.AGAIN) {
                    throw new AssertionError("wait has failed: status=" + status);
                }
                queue.armEvent();
                if (!told) {
                    told = true;
                    asleep.countDown();
                }
                if (!queue.awaitEvent(Patience.LIMIT)) {
                    throw new AssertionError("not woken");
                }
                queue.clearEvent();
            }
        }
    }

    @Test
    @Clause("core-003")
    void shouldOperateWithoutAllocation() {
        SyncEventContext context = context(configured());
        WorkQueue queue = queue(context, false);
        SyncEventAddJob add = context.createAddJob(1);
        SyncEventWaitJob wait = context.createWaitGreaterJob(0, ALL);
        AllocationMeter.assertNone(
                20_000,
                () -> {
                    queue.trySubmit(wait);
                    queue.trySubmit(add);
                    while (queue.inFlightJobs() > 0) {
                        queue.progressRetrieve(event);
                    }
                });
        assertThat(add.previous()).isPositive();
    }

    @Test
    void shouldGiveADpuHandleItsPlaceAgainAfterItsClose() {
        SyncEvent shared = started();
        for (int i = 0; i < 3; i++) {
            SyncEvent handle = SyncEvent.createFromExport(shared.exportPci(pf0), p0);
            SyncEventContext context = context(handle);
            try (WorkQueue queue = WorkQueue.create(1)) {
                queue.add(context);
                assertThat(done(queue, context.createAddJob(1))).isEqualTo(i);
            }
            context.stop();
            handle.close();
        }
        assertThat(shared.get()).isEqualTo(3);
    }
}
