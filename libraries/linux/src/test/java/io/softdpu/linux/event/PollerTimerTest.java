package io.softdpu.linux.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.linux.AllocationMeter;
import io.softdpu.linux.Epoll;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Deadlines of a poller: its waits, its timers and its descriptor. */
final class PollerTimerTest {
    private static final long MILLI = 1_000_000;
    private static final long FAR = 3_600_000 * MILLI;

    private final List<String> ran = new ArrayList<>();
    private final Pipe pipe = new Pipe();
    private Poller poller;

    @AfterEach
    void close() {
        if (poller != null) {
            poller.close();
        }
        pipe.close();
    }

    private Poller make() {
        poller = new Poller();
        return poller;
    }

    private Timer named(String name) {
        return poller.newTimer(() -> ran.add(name));
    }

    @Test
    void shouldNotEndAWaitBeforeItsTime() {
        make();
        for (long nanos : new long[] {1, 999, 50_000, 999_999, MILLI + 1, 3 * MILLI + 7}) {
            long begin = System.nanoTime();
            assertThat(poller.poll(nanos)).isZero();
            assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(nanos);
        }
    }

    /** Longer than what is waited for in two parts, since the kernel may end a wait late. */
    @Test
    void shouldNotEndALongWaitBeforeItsTime() {
        make();
        long begin = System.nanoTime();
        assertThat(poller.poll(200 * MILLI)).isZero();
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(200 * MILLI);
    }

    /** The timer of the first wait stays armed, and is nothing to the second. */
    @Test
    void shouldNotEndAWaitAtTheTimeoutOfAnEarlierOne() {
        make();
        Registration readable = poller.add(pipe.readEnd(), Poller.IN, events -> ran.add("pipe"));
        pipe.write();
        assertThat(poller.poll(3 * MILLI)).isEqualTo(1);
        readable.remove();

        long begin = System.nanoTime();
        assertThat(poller.poll(20 * MILLI)).isZero();
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(20 * MILLI);
    }

    @Test
    void shouldEndAWaitByATimerThatIsNearerThanTheTimeoutOfAnEarlierOne() {
        make();
        Registration readable = poller.add(pipe.readEnd(), Poller.IN, events -> ran.add("pipe"));
        pipe.write();
        assertThat(poller.poll(FAR)).isEqualTo(1);
        readable.remove();

        named("near").set(System.nanoTime() + MILLI);
        assertThat(poller.poll(2 * FAR)).isEqualTo(1);
        assertThat(ran).containsExactly("pipe", "near");
    }

    @Test
    void shouldClearTheTimeoutOfAnEarlierWaitFromItsDescriptor() {
        make();
        Registration readable = poller.add(pipe.readEnd(), Poller.IN, events -> ran.add("pipe"));
        pipe.write();
        assertThat(poller.poll(MILLI)).isEqualTo(1);
        readable.remove();
        try (Epoll outside = new Epoll(1)) {
            outside.add(poller.fd(), Epoll.IN, 1);
            outside.await(20); // readable by then, unless the wait itself took its millisecond
            assertThat(poller.poll(0)).isZero();
            assertThat(outside.await(0)).as("cleared").isZero();
        }
    }

    /** Waits without a timeout make no timer; this one would end at that of the wait before. */
    @Test
    void shouldWaitWithoutLimitAfterAWaitWithATimeout() throws InterruptedException {
        make();
        Registration readable = poller.add(pipe.readEnd(), Poller.IN, events -> ran.add("pipe"));
        pipe.write();
        assertThat(poller.poll(MILLI)).isEqualTo(1);
        readable.remove();

        long begin = System.nanoTime();
        Thread waker =
                Thread.ofPlatform()
                        .start(() -> {
                            while (System.nanoTime() - begin < 5 * MILLI) {
                                LockSupport.parkNanos(MILLI);
                            }
                            poller.wake();
                        });
        assertThat(poller.poll(-1)).isEqualTo(1);
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(5 * MILLI);
        waker.join();
    }

    @Test
    void shouldRunTimersInTheOrderOfTheirDeadlinesAndNoneEarly() {
        make();
        long now = System.nanoTime();
        long[] deadlines = {now + 3 * MILLI, now + MILLI / 3, now + 2 * MILLI, now + MILLI};
        List<Long> early = new ArrayList<>();
        for (int i = 0; i < deadlines.length; i++) {
            int index = i;
            poller.newTimer(
                            () -> {
                                ran.add("timer " + index);
                                if (System.nanoTime() - deadlines[index] < 0) {
                                    early.add(deadlines[index] - now);
                                }
                            })
                    .set(deadlines[i]);
        }

        int served = 0;
        while (poller.hasDeadline()) {
            served += poller.poll(-1);
        }
        assertThat(served).isEqualTo(4);
        assertThat(early).isEmpty();
        assertThat(ran).containsExactly("timer 1", "timer 3", "timer 2", "timer 0");
    }

    @Test
    void shouldRunEqualDeadlinesInTheOrderOfSetting() {
        make();
        long now = System.nanoTime();
        Timer moved = named("moved");
        moved.set(now);
        for (int i = 0; i < 20; i++) {
            named("timer " + i).set(now);
        }
        moved.set(now); // which makes it the last

        assertThat(poller.poll(0)).isEqualTo(21);
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            expected.add("timer " + i);
        }
        expected.add("moved");
        assertThat(ran).isEqualTo(expected);
    }

    @Test
    void shouldEndAWaitForADescriptorBeforeADeadline() {
        make();
        poller.add(pipe.readEnd(), Poller.IN, events -> ran.add("pipe"));
        named("far").set(System.nanoTime() + FAR);
        pipe.write();

        assertThat(poller.poll(FAR)).isEqualTo(1);
        assertThat(ran).containsExactly("pipe");
    }

    @Test
    void shouldNotRunACancelledTimer() {
        make();
        Timer timer = named("cancelled");
        timer.set(System.nanoTime());
        assertThat(timer.isSet()).isTrue();
        timer.cancel();
        timer.cancel();

        assertThat(timer.isSet()).isFalse();
        assertThat(poller.hasDeadline()).isFalse();
        assertThat(poller.poll(0)).isZero();
        assertThat(ran).isEmpty();
        assertThatThrownBy(() -> poller.nearestDeadlineNanos())
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldLetHandlersSetAndCancelTimersOfTheSameTurn() {
        make();
        long now = System.nanoTime();
        Timer cancelled = named("cancelled");
        Timer postponed = named("postponed");
        Timer[] itself = new Timer[1];
        itself[0] =
                poller.newTimer(() -> {
                    assertThat(itself[0].isSet()).isFalse();
                    ran.add("itself");
                    itself[0].set(now); // due already: in the next turn
                    cancelled.cancel();
                    postponed.set(now + FAR);
                });
        itself[0].set(now);
        cancelled.set(now);
        postponed.set(now);
        named("after").set(now);

        assertThat(poller.poll(-1)).isEqualTo(2);
        assertThat(ran).containsExactly("itself", "after");
        assertThat(poller.poll(-1)).isEqualTo(1);
        assertThat(ran).containsExactly("itself", "after", "itself");
        itself[0].cancel();
        assertThat(poller.nearestDeadlineNanos()).isEqualTo(now + FAR);
    }

    @Test
    void shouldServeOnlyTimersWhereDescriptorsAreNotLookedAt() {
        make();
        poller.add(pipe.readEnd(), Poller.IN, events -> ran.add("pipe"));
        pipe.write();
        named("due").set(System.nanoTime());
        named("far").set(System.nanoTime() + FAR);

        assertThat(poller.runDueTimers()).isEqualTo(1);
        assertThat(poller.runDueTimers()).isZero();
        assertThat(ran).containsExactly("due");
    }

    /** As a program does that watches the poller's descriptor in a loop of its own. */
    @Test
    void shouldHaveItsDescriptorFollowTheNearestDeadline() {
        make();
        try (Epoll outside = new Epoll(1)) {
            outside.add(poller.fd(), Epoll.IN, 1);
            Timer far = named("far");
            Timer near = named("near");
            far.set(System.nanoTime() + FAR);
            near.set(System.nanoTime());
            assertThat(outside.await(0)).as("not asked to follow").isZero();

            poller.followDeadlines();
            assertThat(outside.await(-1)).as("due when asked").isEqualTo(1);
            near.cancel();
            assertThat(outside.await(0)).as("cancelled").isZero();
            long deadline = System.nanoTime() + 2 * MILLI;
            near.set(deadline);
            assertThat(outside.await(-1)).as("set while asked").isEqualTo(1);
            assertThat(System.nanoTime() - deadline).as("lateness").isNotNegative();
            assertThat(poller.poll(0)).isEqualTo(1);
            assertThat(outside.await(0)).as("served").isZero();

            near.set(System.nanoTime());
            assertThat(outside.await(-1)).isEqualTo(1);
            poller.unfollowDeadlines();
            assertThat(outside.await(0)).as("asked to follow no more").isZero();
            assertThat(poller.poll(MILLI)).as("served all the same").isEqualTo(1);
        }
        assertThat(ran).containsExactly("near", "near");
    }

    @Test
    void shouldWaitByItselfWhileItsDescriptorFollows() {
        make();
        Timer timer = named("timer");
        timer.set(System.nanoTime() + FAR);
        poller.followDeadlines();

        assertThat(poller.poll(MILLI)).as("time is up").isZero();
        timer.set(System.nanoTime() + MILLI);
        assertThat(poller.poll(-1)).isEqualTo(1);
        assertThat(ran).containsExactly("timer");
    }

    @Test
    void shouldAllocateNothingPerTurn() {
        make();
        long[] count = new long[1];
        Timer[] timers = new Timer[20];
        for (int i = 0; i < timers.length; i++) {
            timers[i] = poller.newTimer(() -> count[0]++);
        }
        Registration registration =
                poller.add(pipe.readEnd(), Poller.IN, events -> count[0] += events);
        pipe.write();

        assertThat(
                        AllocationMeter.bytesPerOperation(() -> {
                            long now = System.nanoTime();
                            for (int i = 0; i < timers.length; i++) {
                                timers[i].set(i % 2 == 0 ? now : now + FAR);
                            }
                            timers[1].cancel();
                            poller.wake();
                            poller.poll(FAR);
                            registration.setInterest(0);
                            timers[0].set(System.nanoTime() + 1);
                            poller.poll(-1); // ends by the deadline alone
                            registration.setInterest(Poller.IN);
                        }))
                .isLessThan(1);
        assertThat(count[0]).isGreaterThanOrEqualTo(AllocationMeter.OPERATIONS);
    }
}
