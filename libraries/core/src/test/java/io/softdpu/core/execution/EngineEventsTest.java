package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.fabric.engine.WaitPermission;
import io.softdpu.linux.Doorbell;
import io.softdpu.linux.Epoll;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.UnixSocket;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Descriptors of the program and deadlines in an engine, polled, waited for, and in event mode. */
class EngineEventsTest {
    private static final long MILLI = 1_000_000;

    private static final int NOW = 0;
    private static final int DEADLINE_MILLIS = (int) Patience.LIMIT.toMillis();

    @TempDir Path folder;
    private final List<String> ran = new ArrayList<>();
    private Machines machines;
    private ProgressEngine engine;
    private int[] pair;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        pair = UnixSocket.pair();
        machines.add(() -> {
            FileDescriptors.close(pair[0]);
            FileDescriptors.close(pair[1]);
        });
        engine = machines.add(ProgressEngine.create());
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private DescriptorWatch watch() {
        return engine.watch(
                pair[0],
                DescriptorWatch.READABLE,
                (watch, events) -> {
                    assertThat(Thread.currentThread()).isSameAs(engine.owner());
                    ran.add("events " + events);
                    Doorbell.drain(watch.descriptor());
                });
    }

    private EngineTimer timer(String name) {
        return engine.timer(() -> ran.add(name));
    }

    @Test
    void shouldSleepUntilADescriptorIsReady() throws Exception {
        watch();
        CountDownLatch waits = new CountDownLatch(1);
        Thread peer =
                Thread.ofPlatform()
                        .start(() -> {
                            try {
                                waits.await();
                            } catch (InterruptedException e) {
                                throw new AssertionError(e);
                            }
                            Doorbell.ring(pair[1]);
                        });
        waits.countDown();

        assertThat(engine.await(Patience.LIMIT)).isTrue();
        assertThat(ran).containsExactly("events " + DescriptorWatch.READABLE);
        assertThat(engine.await(Duration.ofNanos(MILLI))).as("drained").isFalse();
        peer.join();
    }

    @Test
    void shouldNotPermitToWaitForAnotherProcessInsideProgress() {
        List<Boolean> granted = new ArrayList<>();
        ProgressEngine other = machines.add(ProgressEngine.create());
        engine.timer(
                        () -> {
                            other.progress(); // ends before the outer pass does
                            granted.add(WaitPermission.isGranted());
                        })
                .setAt(System.nanoTime());
        granted.add(WaitPermission.isGranted());

        engine.progress();

        granted.add(WaitPermission.isGranted());
        assertThat(granted).containsExactly(true, false, true);
    }

    @Test
    void shouldServeADescriptorAgainForAsLongAsItIsReady() {
        engine.watch(pair[0], DescriptorWatch.READABLE, (watch, events) -> ran.add("ready"));
        Doorbell.ring(pair[1]);

        for (int i = 0; i < 3; i++) {
            assertThat(engine.progress()).isTrue();
        }
        assertThat(ran).containsExactly("ready", "ready", "ready");
    }

    /** A context with something to do in each pass: the engine never sleeps. */
    @Test
    void shouldServeADescriptorBetweenOtherWork() {
        TinyContext context = machines.add(new TinyContext(machines.device(Side.HOST, "pf0")));
        engine.connect(context);
        context.start();
        watch();
        engine.progress();
        TinyContext.TinyTask task = context.allocate();
        Doorbell.ring(pair[1]);

        while (ran.isEmpty()) {
            task.submit();
            assertThat(engine.await(Patience.LIMIT)).isTrue();
        }
        while (engine.inFlightTasks() > 0) {
            engine.progress();
        }
        task.free();
        context.stop();
    }

    @Test
    void shouldWatchForWhatTheInterestSays() {
        DescriptorWatch watch =
                engine.watch(pair[0], 0, (present, events) -> ran.add("events " + events));
        Doorbell.ring(pair[1]);
        assertThat(engine.await(Duration.ofNanos(MILLI))).isFalse();

        watch.setInterest(DescriptorWatch.READABLE | DescriptorWatch.WRITABLE);
        assertThat(engine.await(Patience.LIMIT)).isTrue();
        watch.setInterest(0);
        assertThat(engine.await(Duration.ofNanos(MILLI))).isFalse();

        assertThat(ran)
                .containsExactly("events " + (DescriptorWatch.READABLE | DescriptorWatch.WRITABLE));
    }

    @Test
    void shouldEndAWatchInsideItsCallback() {
        engine.watch(
                pair[0],
                DescriptorWatch.READABLE,
                (watch, events) -> {
                    ran.add("ready");
                    watch.close();
                    watch.close();
                });
        Doorbell.ring(pair[1]);

        assertThat(engine.await(Patience.LIMIT)).isTrue();
        assertThat(engine.await(Duration.ofNanos(MILLI))).isFalse();
        assertThat(ran).containsExactly("ready");
    }

    @Test
    void shouldNameTheDescriptorThatCannotBeWatched() {
        DescriptorWatch watch = watch();

        Thrown.with(Status.IN_USE, this::watch).hasMessageContaining("descriptor=" + pair[0]);
        Thrown.with(
                        Status.NOT_SUPPORTED,
                        () -> engine.watch(engine.eventHandle(), 0, (w, events) -> {}))
                .hasMessageContaining("descriptor=" + engine.eventHandle());
        watch.close();
        Thrown.with(Status.BAD_STATE, () -> watch.setInterest(0));
    }

    @Test
    void shouldRunTimersInProgressAndNoneEarly() {
        long begin = System.nanoTime();
        timer("later").setAt(begin + 3 * MILLI); // whenever the thread gets to the next line
        timer("sooner").setAt(begin + MILLI);
        EngineTimer cancelled = timer("cancelled");
        cancelled.set(Duration.ofNanos(2 * MILLI));
        assertThat(cancelled.isSet()).isTrue();
        cancelled.cancel();
        assertThat(cancelled.isSet()).isFalse();

        assertThat(engine.await(Patience.LIMIT)).isTrue();
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(MILLI);
        while (ran.size() < 2) {
            assertThat(engine.await(Patience.LIMIT)).isTrue();
        }
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(3 * MILLI);
        assertThat(ran).containsExactly("sooner", "later");
    }

    @Test
    void shouldRunATimerAtAPointInTimeAndAtOnceWhereThatHasPassed() {
        long begin = System.nanoTime();
        timer("passed").setAt(begin - MILLI);
        timer("never").setAt(begin + Long.MAX_VALUE);
        engine.progress();
        assertThat(ran).containsExactly("passed");

        begin = System.nanoTime();
        timer("later").setAt(begin + 3 * MILLI);
        while (ran.size() < 2) {
            assertThat(engine.await(Patience.LIMIT)).isTrue();
        }
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(3 * MILLI);
        assertThat(ran).containsExactly("passed", "later");
    }

    @Test
    void shouldRunTimersWhoseTimeHasPassedInTheOrderOfTheirTimes() {
        long begin = System.nanoTime();
        timer("second").setAt(begin - MILLI);
        timer("third").setAt(begin);
        timer("first").setAt(begin - 2 * MILLI);
        timer("long ago").setAt(begin - Long.MAX_VALUE / 2);

        assertThat(engine.progress()).isTrue();

        assertThat(ran).containsExactly("long ago", "first", "second", "third");
    }

    /** One after the other, each waited for asleep; how late they are is said, not judged. */
    @Test
    @Tag(Soak.TAG)
    void shouldRunNoTimerOfManyEarly(SeededRandom random) {
        int count = Soak.count(100, 100, 1_000);
        long[] lateNanos = new long[count];
        boolean[] over = new boolean[1];
        EngineTimer timer = engine.timer(() -> over[0] = true);
        watch();
        long begin = System.nanoTime();
        for (int i = 0; i < count; i++) {
            long delayNanos = MILLI + random.nextLong(19 * MILLI);
            over[0] = false;
            long set = System.nanoTime();
            timer.set(Duration.ofNanos(delayNanos));
            while (!over[0]) {
                assertThat(engine.await(Patience.LIMIT)).isTrue();
            }
            lateNanos[i] = System.nanoTime() - set - delayNanos;
        }
        Arrays.sort(lateNanos);
        assertThat(lateNanos[0]).as("least lateness").isNotNegative();
        Soak.report(
                "engine-timers",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                Text.format(
                        "timers=%d, late_p50_us=%d, late_p99_us=%d, late_max_us=%d",
                        count,
                        lateNanos[count / 2] / 1_000,
                        lateNanos[count * 99 / 100] / 1_000,
                        lateNanos[count - 1] / 1_000));
    }

    @Test
    void shouldServeTheOthersWhereACallbackThrows() {
        EngineTimer throwing =
                engine.timer(() -> {
                    ran.add("throws");
                    throw new IllegalStateException("of the timer");
                });
        throwing.set(Duration.ZERO);
        timer("after").set(Duration.ZERO);
        watch();
        Doorbell.ring(pair[1]);

        assertThatThrownBy(engine::progress).hasMessage("of the timer");
        assertThat(ran).containsExactly("events 1", "throws", "after");
        assertThat(engine.progress()).isFalse();
    }

    @Test
    void shouldRefuseToMakeProgressInsideACallback() {
        engine.timer(() -> engine.progress()).set(Duration.ZERO);

        Thrown.with(Status.NOT_PERMITTED, engine::progress);
    }

    @Test
    void shouldMakeTheHandleReadableForADescriptorOnlyOnRequest() {
        try (Epoll loop = new Epoll(1)) {
            loop.add(engine.eventHandle(), Epoll.IN, 1);
            watch();
            Doorbell.ring(pair[1]);
            assertThat(loop.await(NOW)).as("not requested").isZero();

            engine.requestNotification();
            assertThat(loop.await(DEADLINE_MILLIS)).isEqualTo(1);
            engine.clearNotification();
            assertThat(loop.await(NOW)).as("cleared, though it is ready still").isZero();
            assertThat(ran).as("nothing runs outside progress").isEmpty();
            assertThat(engine.progress()).isTrue();
            assertThat(engine.progress()).isFalse();

            engine.requestNotification();
            assertThat(loop.await(NOW)).as("nothing new").isZero();
            Doorbell.ring(pair[1]);
            assertThat(loop.await(DEADLINE_MILLIS)).isEqualTo(1);
            engine.clearNotification();
            assertThat(engine.progress()).isTrue();
        }
        assertThat(ran).containsExactly("events 1", "events 1");
    }

    @Test
    void shouldMakeTheHandleReadableAtADeadlineOnlyOnRequest() {
        try (Epoll loop = new Epoll(1)) {
            loop.add(engine.eventHandle(), Epoll.IN, 1);
            EngineTimer timer = timer("timer");
            timer.set(Duration.ZERO);
            assertThat(loop.await(NOW)).as("not requested").isZero();
            engine.requestNotification();
            assertThat(loop.await(DEADLINE_MILLIS)).as("due already").isEqualTo(1);
            engine.clearNotification();
            assertThat(loop.await(NOW)).as("cleared, though it is due still").isZero();
            assertThat(engine.progress()).isTrue();
            assertThat(engine.progress()).isFalse();

            engine.requestNotification();
            long set = System.nanoTime();
            timer.set(Duration.ofNanos(2 * MILLI)); // after the request
            assertThat(loop.await(DEADLINE_MILLIS)).isEqualTo(1);
            assertThat(System.nanoTime() - set).isGreaterThanOrEqualTo(2 * MILLI);
            engine.clearNotification();
            assertThat(engine.progress()).isTrue();

            engine.requestNotification();
            timer.set(Duration.ofNanos(2 * MILLI));
            assertThat(engine.awaitNotification(Patience.LIMIT)).isTrue();
            engine.clearNotification();
            assertThat(engine.progress()).isTrue();
        }
        assertThat(ran).containsExactly("timer", "timer", "timer");
    }

    /** The first timer and the first watch of an engine whose notification was requested before. */
    @Test
    void shouldHearOfWhatIsMadeAfterTheRequest() {
        engine.requestNotification();
        timer("timer").set(Duration.ZERO);
        assertThat(engine.awaitNotification(Patience.LIMIT)).isTrue();
        engine.clearNotification();
        assertThat(engine.progress()).isTrue();
        assertThat(ran).containsExactly("timer");
    }

    @Test
    void shouldForgetWatchesAndTimersWhenItCloses() {
        DescriptorWatch watch = watch();
        EngineTimer timer = timer("timer");
        timer.set(Duration.ZERO);
        Doorbell.ring(pair[1]);
        engine.close();

        timer.cancel();
        watch.close();
        Thrown.with(Status.BAD_STATE, () -> timer.set(Duration.ZERO));
        assertThat(ran).isEmpty();
    }

    @Test
    void shouldLetALibraryWakeItsEngineFromAnyThread() throws Exception {
        TinyContext context = machines.add(new TinyContext(machines.device(Side.HOST, "pf0")));
        engine.connect(context);
        context.start();
        while (engine.progress()) {}
        ContextServices services = context.ownServices();
        services.timer(() -> ran.add("timer")).set(Duration.ZERO);
        services.watch(pair[0], DescriptorWatch.WRITABLE, (watch, events) -> watch.close());
        assertThat(engine.progress()).isTrue();
        assertThat(ran).containsExactly("timer");
        engine.requestNotification();
        Thread other = Thread.ofPlatform().start(services::wake);

        assertThat(engine.awaitNotification(Patience.LIMIT)).isTrue();
        engine.clearNotification();
        other.join();
        context.stop();
    }
}
