package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.execution.TinyJobs.TinyJob;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Threads that use a work queue, and those that are kept out of it. */
class WorkQueueThreadsTest extends WorkQueueFixture {
    @Test
    @Clause({"core-126", "core-149"})
    void shouldNotLetAnyOtherThreadIn() throws Exception {
        List<DpuException> refusals =
                ContextTest.onAnotherThread(
                        () -> queue.submit(context.job()),
                        () -> queue.trySubmit(context.job()),
                        () -> queue.progressRetrieve(event),
                        () -> queue.add(context),
                        () -> queue.remove(context),
                        () -> queue.setEventDriven(true),
                        queue::eventHandle,
                        queue::armEvent,
                        queue::clearEvent,
                        () -> queue.awaitEvent(Duration.ZERO),
                        queue::close);
        assertThat(refusals)
                .hasSize(11)
                .allSatisfy(e -> {
                    assertThat(e.status()).isEqualTo(Status.NOT_PERMITTED);
                    assertThat(e)
                            .hasMessageContainingAll(
                                    "thread=other",
                                    "queueThread=" + Thread.currentThread().getName());
                });
        TinyJob failing = context.job();
        failing.outcome = Status.NOT_PERMITTED;
        queue.submit(failing);
        queue.submit(context.job());
        assertThat(queue.inFlightJobs()).as("of its own thread").isEqualTo(2);
        assertThat(retrieve()).isEqualTo(Status.IO_FAILED);
        assertThat(event.status()).isEqualTo(Status.NOT_PERMITTED);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(event.status()).isEqualTo(Status.SUCCESS);
    }

    @Test
    @Clause("core-130")
    void shouldServeSeveralThreadsWithAQueueEach(SeededRandom random) throws Exception {
        int threads = 3;
        int jobsEach = 2_000;
        CyclicBarrier begin = new CyclicBarrier(threads);
        List<CompletableFuture<Integer>> done = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            SeededRandom own = random.fork();
            CompletableFuture<Integer> future = new CompletableFuture<>();
            done.add(future);
            Thread.ofPlatform()
                    .start(() -> {
                        try {
                            begin.await(Patience.SECONDS, TimeUnit.SECONDS);
                            future.complete(work(jobsEach, own));
                        } catch (Throwable e) {
                            future.completeExceptionally(e);
                        }
                    });
        }
        int slices = 0;
        for (CompletableFuture<Integer> each : done) {
            slices += each.get(Patience.SECONDS, TimeUnit.SECONDS);
        }
        assertThat(context.slices).hasValue(slices);
    }

    /** The queue of this thread is on the context all the time. */
    @Test
    @Clause("core-147")
    void shouldLetThreadsAddAndRemoveQueuesWhileOthersLook() throws Exception {
        int threads = 3;
        int rounds = 1_000;
        CyclicBarrier begin = new CyclicBarrier(threads + 1);
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Void> looking = onItsOwnThread(begin, () -> look(over));
        List<CompletableFuture<Void>> working = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            working.add(onItsOwnThread(begin, () -> comeAndGo(rounds)));
        }
        for (CompletableFuture<Void> each : working) {
            each.get(Patience.SECONDS, TimeUnit.SECONDS);
        }
        over.set(true);
        looking.get(Patience.SECONDS, TimeUnit.SECONDS);
        Thrown.with(Status.NOT_PERMITTED, context::stop).hasMessageContaining("queues=1");
        queue.remove(context);
        assertThat(context.stop()).isEqualTo(Status.SUCCESS);
        assertThat(context.slices).hasValue(threads * rounds);
    }

    @Test
    @Clause("core-147")
    void shouldKeepOtherThreadsOutUntilAQueueIsAdded() throws Exception {
        List<String> over = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch added = new CountDownLatch(1);
        CountDownLatch inTheMiddle = new CountDownLatch(1);
        Thread remover =
                Thread.ofPlatform()
                        .start(() -> {
                            try (WorkQueue own = WorkQueue.create(1)) {
                                own.add(context);
                                added.countDown();
                                awaitLatch(inTheMiddle);
                                own.remove(context);
                                over.add("removed");
                            }
                        });
        Thread adder =
                Thread.ofPlatform()
                        .unstarted(() -> {
                            try (WorkQueue own = WorkQueue.create(1)) {
                                own.add(context);
                                over.add("added");
                            }
                        });
        Thread stopper =
                Thread.ofPlatform()
                        .unstarted(() -> {
                            Thrown.with(Status.NOT_PERMITTED, context::stop);
                            over.add("not stopped");
                        });
        awaitLatch(added);
        List<String> early = new ArrayList<>();
        context.whileAddingQueue =
                () -> {
                    inTheMiddle.countDown();
                    adder.start();
                    stopper.start();
                    List.of(remover, adder, stopper)
                            .forEach(WorkQueueThreadsTest::awaitKeptOutOrThrough);
                    early.addAll(over);
                };
        WorkQueue second = machines.add(WorkQueue.create(1));
        second.add(context);
        for (Thread each : List.of(remover, adder, stopper)) {
            assertThat(each.join(Patience.DEADLINE)).isTrue();
        }
        assertThat(early).as("while the queue was being added").isEmpty();
        assertThat(over).containsExactlyInAnyOrder("removed", "added", "not stopped");
    }

    @Test
    @Clause("core-147")
    void shouldFailOnlyBeforeOrAfterAQueueIsAdded() throws Exception {
        List<String> over = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch submitted = new CountDownLatch(1);
        CountDownLatch inTheMiddle = new CountDownLatch(1);
        TinyJob breaking = context.job();
        breaking.outcome = Status.IO_FAILED;
        breaking.breaksContext = true;
        Thread breaker =
                Thread.ofPlatform()
                        .start(() -> {
                            try (WorkQueue own = WorkQueue.create(1)) {
                                own.add(context);
                                own.submit(breaking);
                                submitted.countDown();
                                awaitLatch(inTheMiddle);
                                own.progressRetrieve(JobEvent.create());
                                over.add("failed");
                            }
                        });
        awaitLatch(submitted);
        List<String> early = new ArrayList<>();
        context.whileAddingQueue =
                () -> {
                    inTheMiddle.countDown();
                    awaitKeptOutOrThrough(breaker);
                    early.addAll(over);
                };
        WorkQueue second = machines.add(WorkQueue.create(1));
        second.add(context);
        assertThat(breaker.join(Patience.DEADLINE)).isTrue();
        assertThat(early).as("while the queue was being added").isEmpty();
        assertThat(over).containsExactly("failed");
        assertThat(context.failure().status()).isEqualTo(Status.IO_FAILED);
    }

    @Test
    @Clause("core-147")
    void shouldKeepOtherThreadsOutWhileOneStartsTheContext() throws Exception {
        TinyJobs other = machines.add(new TinyJobs("other", device));
        List<Status> late = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads =
                List.of(
                        calling(other::start, late),
                        calling(() -> other.setStateChangedCallback((c, from, to) -> {}), late),
                        calling(
                                () -> {
                                    try (ProgressEngine engine = ProgressEngine.create()) {
                                        engine.connect(other);
                                    }
                                },
                                late));
        List<Status> early = new ArrayList<>();
        other.whileStarting =
                () -> {
                    threads.forEach(Thread::start);
                    threads.forEach(WorkQueueThreadsTest::awaitKeptOutOrThrough);
                    early.addAll(late);
                };
        assertThat(other.start()).isEqualTo(Status.SUCCESS);
        for (Thread each : threads) {
            assertThat(each.join(Patience.DEADLINE)).isTrue();
        }
        assertThat(early).as("while the context was being started").isEmpty();
        assertThat(late).hasSize(3).containsOnly(Status.BAD_STATE);
        assertThat(other.calls).containsExactly("start on work queues");
    }

    @Test
    @Clause("core-147")
    void shouldKeepOtherThreadsOutWhileOneClosesTheContext() throws Exception {
        TinyJobs other = machines.add(new TinyJobs("other", device));
        other.start();
        List<Status> late = Collections.synchronizedList(new ArrayList<>());
        Thread closer = calling(other::close, late);
        List<Status> early = new ArrayList<>();
        other.whileStopping =
                () -> {
                    closer.start();
                    awaitKeptOutOrThrough(closer);
                    early.addAll(late);
                };
        other.close();
        assertThat(closer.join(Patience.DEADLINE)).isTrue();
        assertThat(early).as("while the context was being closed").isEmpty();
        assertThat(late).as("closed already").containsExactly(Status.SUCCESS);
        assertThat(other.calls).containsExactly("start on work queues", "stop", "destroy");
    }

    /** A thread, not started, that makes the call and writes down the result. */
    private static Thread calling(Runnable call, List<Status> results) {
        return Thread.ofPlatform()
                .unstarted(() -> {
                    try {
                        call.run();
                        results.add(Status.SUCCESS);
                    } catch (DpuException e) {
                        results.add(e.status());
                    }
                });
    }

    private static void awaitKeptOutOrThrough(Thread thread) {
        Await.until(
                "thread is kept out, or through",
                () ->
                        thread.getState() == Thread.State.BLOCKED
                                || thread.getState() == Thread.State.TERMINATED);
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            assertThat(latch.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static CompletableFuture<Void> onItsOwnThread(CyclicBarrier begin, Runnable work) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread.ofPlatform()
                .start(() -> {
                    try {
                        begin.await(Patience.SECONDS, TimeUnit.SECONDS);
                        work.run();
                        done.complete(null);
                    } catch (Throwable e) {
                        done.completeExceptionally(e);
                    }
                });
        return done;
    }

    private void look(AtomicBoolean over) {
        do {
            assertThat(context.state()).isEqualTo(ContextState.RUNNING);
            assertThat(context.failure()).isNull();
            Thrown.with(Status.NOT_PERMITTED, context::stop);
        } while (!over.get());
    }

    private void comeAndGo(int rounds) {
        JobEvent ownEvent = JobEvent.create();
        for (int i = 0; i < rounds; i++) {
            try (WorkQueue own = WorkQueue.create(1)) {
                own.add(context);
                own.submit(context.job());
                assertThat(own.progressRetrieve(ownEvent)).isEqualTo(Status.SUCCESS);
                own.remove(context);
            }
        }
    }

    /** Keeps a queue of the calling thread busy; how many slices that took. */
    private int work(int jobs, SeededRandom random) {
        int slices = 0;
        try (WorkQueue own = WorkQueue.create(DEPTH)) {
            own.add(context);
            JobEvent ownEvent = JobEvent.create();
            List<TinyJob> free = new ArrayList<>();
            for (int i = 0; i < DEPTH; i++) {
                free.add(context.job());
            }
            int submitted = 0;
            int retrieved = 0;
            while (retrieved < jobs) {
                if (submitted < jobs && !free.isEmpty() && random.nextBoolean()) {
                    TinyJob job = free.removeLast();
                    job.setSlices(1 + random.nextInt(3));
                    slices += job.slices;
                    own.submit(job);
                    submitted++;
                } else if (own.progressRetrieve(ownEvent) == Status.SUCCESS) {
                    free.add((TinyJob) ownEvent.job());
                    retrieved++;
                }
            }
        }
        return slices;
    }
}
