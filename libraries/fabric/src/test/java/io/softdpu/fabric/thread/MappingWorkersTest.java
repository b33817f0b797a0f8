package io.softdpu.fabric.thread;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class MappingWorkersTest {

    private final MappingWorkers workers = new MappingWorkers();
    private final List<Integer> order = Collections.synchronizedList(new ArrayList<>());

    @BeforeEach
    void start() {
        workers.start();
    }

    @AfterEach
    void end() {
        assertThat(workers.end(Patience.NANOS)).isTrue();
    }

    /** On one thread, since two note their slices in any order. */
    @Test
    void shouldTakeTurnsBetweenPeers() {
        int slices = 20;
        CountDownLatch others = new CountDownLatch(1);
        for (int i = 1; i < MappingWorkers.THREADS_LIMIT; i++) {
            occupyAThread(1000 + i, others);
        }
        CountDownLatch begin = new CountDownLatch(1);
        occupyAThread(1000, begin);
        for (int peer = 1; peer <= 4; peer++) {
            workers.submit(peer, noting(peer, slices));
        }

        begin.countDown();
        Await.until("all slices", () -> order.size() == 4 * slices);
        others.countDown();

        for (int i = 0; i < order.size(); i += 4) {
            assertThat(order.subList(i, i + 4)).as("round %d", i / 4).containsExactly(1, 2, 3, 4);
        }
    }

    @Test
    void shouldRunOneSliceOfAPeerAtATime() {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch begin = occupyAllThreads();
        for (int task = 0; task < 50; task++) {
            workers.submit(
                    7,
                    () -> {
                        most.accumulateAndGet(running.incrementAndGet(), Math::max);
                        Thread.yield();
                        running.decrementAndGet();
                        return false;
                    });
        }

        begin.countDown();
        end();

        assertThat(most.get()).isEqualTo(1);
    }

    @Test
    void shouldTakeTurnsBetweenTheTasksOfAPeer() {
        CountDownLatch begin = occupyAllThreads();
        workers.submit(7, noting(1, 100));
        workers.submit(7, noting(2, 1));
        workers.submit(7, noting(3, 2));

        begin.countDown();
        end();

        assertThat(order).hasSize(103).startsWith(1, 2, 3, 1, 3, 1, 1);
    }

    @Test
    void shouldTellWhereTooMuchOfAPeerWaits() {
        CountDownLatch begin = occupyAllThreads();
        for (int task = 0; task < MappingWorkers.WAITING_LIMIT - 1; task++) {
            workers.submit(7, noting(task, 1));
        }
        assertThat(workers.hasCapacity(7)).isTrue();
        workers.submit(7, noting(0, 1));

        assertThat(workers.hasCapacity(7)).isFalse();
        assertThat(workers.hasCapacity(8)).isTrue();

        begin.countDown();
        end();
        assertThat(order).hasSize(MappingWorkers.WAITING_LIMIT);
    }

    @Test
    void shouldStartTheSecondThreadOnDemandAndEndItWhenIdle() {
        assertThat(workers.threads()).isEqualTo(1);
        CountDownLatch release = occupyAllThreads();
        assertThat(workers.threads()).isEqualTo(2);

        release.countDown();

        Await.until("one thread is left", () -> workers.threads() == 1);
        workers.submit(1, noting(1, 1));
        end();
        assertThat(order).containsExactly(1);
    }

    @Test
    void shouldGoOnWhereATaskFails() {
        workers.submit(
                1,
                () -> {
                    throw new IllegalStateException("of the test");
                });
        workers.submit(1, noting(1, 1));
        workers.submit(2, noting(2, 1));

        end();

        assertThat(order).containsExactlyInAnyOrder(1, 2);
    }

    @Test
    void shouldDoAtOnceWhatComesAfterTheEnd() {
        end();

        workers.submit(1, noting(1, 3));

        assertThat(order).containsExactly(1, 1, 1);
    }

    @Test
    void shouldTellWhereWorkIsLeftAtTheEnd() {
        CountDownLatch release = occupyAllThreads();

        assertThat(workers.end(1)).isFalse();

        release.countDown();
    }

    /** Keeps the threads until the latch is released, so that what comes meanwhile is queued. */
    private CountDownLatch occupyAllThreads() {
        CountDownLatch release = new CountDownLatch(1);
        for (int i = 0; i < MappingWorkers.THREADS_LIMIT; i++) {
            occupyAThread(1000 + i, release);
        }
        return release;
    }

    private void occupyAThread(int peer, CountDownLatch release) {
        CountDownLatch occupied = new CountDownLatch(1);
        workers.submit(
                peer,
                () -> {
                    occupied.countDown();
                    await(release);
                    return false;
                });
        await(occupied);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private MappingWorkers.Task noting(int what, int slices) {
        AtomicInteger left = new AtomicInteger(slices);
        return () -> {
            order.add(what);
            return left.decrementAndGet() > 0;
        };
    }
}
