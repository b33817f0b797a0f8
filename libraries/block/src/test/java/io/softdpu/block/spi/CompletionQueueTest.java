package io.softdpu.block.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Soak;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Hand-over of completions to the thread of an engine. */
class CompletionQueueTest {
    private final List<String> completed = new ArrayList<>();
    private final AtomicInteger wakes = new AtomicInteger();
    private final CompletionQueue queue = new CompletionQueue(wakes::incrementAndGet);

    private BlockRequest request(String name) {
        return new BlockRequest(
                BlockOperation.FLUSH, owner(status -> completed.add(name + " " + status)), null);
    }

    private static BlockRequest.Owner owner(Consumer<Status> completed) {
        return new BlockRequest.Owner() {
            @Override
            public void completed(Status ended) {
                completed.accept(ended);
            }

            @Override
            public Status memoryStatus() {
                return Status.SUCCESS;
            }
        };
    }

    @Test
    void shouldCompleteInTheOrderOfTheReports() {
        for (int i = 0; i < 4; i++) {
            queue.handedOver();
        }
        queue.add(request("a"), Status.SUCCESS);
        queue.add(request("b"), Status.IO_FAILED);
        queue.add(request("c"), Status.SUCCESS);

        assertThat(queue.complete()).isTrue();
        assertThat(completed).containsExactly("a SUCCESS", "b IO_FAILED", "c SUCCESS");
        assertThat(queue.inFlight()).isOne();
        assertThat(queue.complete()).isFalse();
    }

    @Test
    void shouldCompleteWhatACallbackHasHadReported() {
        queue.handedOver();
        BlockRequest[] again = new BlockRequest[1];
        int[] times = {0};
        again[0] =
                new BlockRequest(
                        BlockOperation.FLUSH,
                        owner(status -> {
                            completed.add("again " + status);
                            if (++times[0] < 3) {
                                queue.handedOver();
                                queue.add(again[0], Status.SUCCESS);
                            }
                        }),
                        null);
        queue.add(again[0], Status.SUCCESS);

        int passes = 0;
        while (queue.complete()) {
            passes++;
        }
        assertThat(passes).as("a pass for each, so that an engine gets round").isEqualTo(3);
        assertThat(completed).hasSize(3);
        assertThat(queue.inFlight()).isZero();
    }

    /** What was taken from the chain is not lost with the pass that an exception has ended. */
    @Test
    void shouldKeepTheRestWhereOneThrows() {
        BlockRequest throwing =
                new BlockRequest(
                        BlockOperation.FLUSH,
                        owner(_ -> {
                            throw new IllegalStateException("thrown by the test");
                        }),
                        null);
        queue.add(throwing, Status.SUCCESS);
        queue.add(request("b"), Status.SUCCESS);
        try {
            queue.complete();
        } catch (IllegalStateException e) {
            completed.add("thrown");
        }

        assertThat(queue.arm()).as("work is left").isTrue();
        assertThat(queue.complete()).isTrue();
        assertThat(completed).containsExactly("thrown", "b SUCCESS");
    }

    @Test
    void shouldWakeTheEngineOncePerSleep() {
        queue.add(request("before"), Status.SUCCESS);
        assertThat(wakes).hasValue(0);
        assertThat(queue.arm()).as("there is work").isTrue();
        queue.disarm();
        queue.complete();

        assertThat(queue.arm()).isFalse();
        queue.add(request("a"), Status.SUCCESS);
        queue.add(request("b"), Status.SUCCESS);
        assertThat(wakes).hasValue(1);
        queue.disarm();
        queue.complete();

        assertThat(queue.arm()).isFalse();
        queue.disarm();
        queue.add(request("c"), Status.SUCCESS);
        assertThat(wakes).as("not asleep").hasValue(1);
    }

    /** A wake-up that is lost leaves the consumer asleep until the deadline. */
    @Test
    @Tag(Soak.TAG)
    void shouldLoseNoReportOfSeveralThreadsToAThreadThatSleeps() throws Exception {
        int threads = 3;
        int rounds = Soak.count(20_000, 100_000, 5_000_000);
        Semaphore woken = new Semaphore(0);
        CompletionQueue sleeping = new CompletionQueue(woken::release);
        int[] ended = {0};
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Semaphore turn = new Semaphore(1);
            BlockRequest own =
                    new BlockRequest(
                            BlockOperation.FLUSH,
                            owner(_ -> {
                                ended[0]++;
                                turn.release();
                            }),
                            null);
            Thread worker =
                    new Thread(
                            () -> {
                                for (int round = 0; round < rounds; round++) {
                                    turn.acquireUninterruptibly();
                                    sleeping.add(own, Status.SUCCESS);
                                }
                            },
                            "test-completions-" + i);
            worker.setDaemon(true);
            workers.add(worker);
        }
        workers.forEach(Thread::start);
        Await.byStep(
                "all reports",
                () -> ended[0] == threads * rounds,
                () -> {
                    if (!sleeping.complete() && !sleeping.arm()) {
                        boolean _ = acquire(woken);
                    }
                    sleeping.disarm();
                });
        for (Thread worker : workers) {
            worker.join();
        }
        assertThat(sleeping.complete()).isFalse();
    }

    private static boolean acquire(Semaphore woken) {
        try {
            return woken.tryAcquire(Patience.SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException("no thread interrupts it", e);
        }
    }
}
