package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.execution.TinyContext.TinyTask;
import io.softdpu.linux.Epoll;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The engine's event handle, watched from outside by an epoll as a program's own loop would. */
class EventModeTest {
    private static final int NOW = 0;
    private static final int DEADLINE_MILLIS = (int) Patience.LIMIT.toMillis();

    /** More than any test here needs: what is left then fails the close of its machine. */
    private static final int MAX_PASSES = 10_000;

    @TempDir Path folder;
    private Machines machines;
    private ProgressEngine engine;
    private TinyContext context;
    private Epoll loop;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        var device = machines.device(Side.HOST, "pf0");
        engine = machines.add(ProgressEngine.create());
        context = machines.add(new TinyContext(device));
        engine.connect(context);
        context.start();
        loop = machines.add(new Epoll(4));
        loop.add(engine.eventHandle(), Epoll.IN, 1);
    }

    @AfterEach
    void close() throws Exception {
        context.stop();
        for (int passes = 0;
                context.state() != ContextState.IDLE && passes < MAX_PASSES;
                passes++) {
            engine.progress();
        }
        machines.close();
    }

    @Test
    @Clause("core-158")
    void shouldSignalWorkFromAnotherThreadAndBeClear() throws Exception {
        int handle = engine.eventHandle();
        engine.requestNotification();
        assertThat(loop.await(NOW)).isZero();
        CountDownLatch ran = new CountDownLatch(1);
        Thread poster = Thread.ofPlatform().start(() -> context.postWork(ran::countDown));
        assertThat(loop.await(DEADLINE_MILLIS)).isEqualTo(1);
        engine.clearNotification();
        assertThat(loop.await(NOW)).as("cleared").isZero();
        assertThat(ran.getCount()).as("nothing runs outside progress").isEqualTo(1);
        assertThat(engine.progress()).isTrue();
        assertThat(ran.getCount()).isZero();
        assertThat(engine.progress()).isFalse();
        assertThat(engine.eventHandle()).isEqualTo(handle);
        poster.join();
    }

    @Test
    void shouldLookAfterTheContextsWithSomethingToDoAloneUntilThereIsNothingMore() {
        assertThat(engine.eventMode()).isEqualTo(EventMode.SELECTIVE);
        assertThat(EventMode.SELECTIVE.code()).isZero();
        TinyContext idle = machines.add(new TinyContext(context.device()));
        engine.connect(idle);
        idle.start();
        while (engine.progress()) {}
        TinyTask task = context.allocate();
        engine.requestNotification();
        assertThat(loop.await(NOW)).isZero();
        engine.clearNotification();
        engine.requestNotification();
        task.submit();
        engine.wake();
        assertThat(loop.await(DEADLINE_MILLIS)).isEqualTo(1);
        engine.clearNotification();
        int passes = idle.passes;
        assertThat(engine.progress()).isTrue();
        assertThat(engine.progress()).isFalse();
        assertThat(idle.passes).as("it had nothing to do").isEqualTo(passes);
        assertThat(engine.progress()).as("polled on").isFalse();
        assertThat(idle.passes).isEqualTo(passes + 1);
        task.free();
        idle.stop();
    }

    /** A library may look at the time in its progress, with a timer that only ends the sleep. */
    @Test
    void shouldLookAfterAllContextsWhereADeadlineHasPassed() {
        EngineTimer timer = context.ownServices().timer(() -> {});
        while (engine.progress()) {}
        timer.set(Duration.ofNanos(1));
        engine.requestNotification();
        assertThat(loop.await(DEADLINE_MILLIS)).isEqualTo(1);
        engine.clearNotification();
        int passes = context.passes;

        while (engine.progress()) {}

        assertThat(context.passes).isGreaterThan(passes);
    }

    @Test
    void shouldComeBackForWhatACallbackBeginsOnAContextThatWasNotSelected() {
        TinyContext second = machines.add(new TinyContext(context.device()));
        engine.connect(second);
        second.start();
        while (engine.progress()) {}
        TinyTask later = second.allocate();
        List<String> ended = new CopyOnWriteArrayList<>();
        later.setCallback(t -> ended.add("second"));
        TinyTask first = context.allocate();
        first.setCallback(t -> {
            ended.add("first");
            later.submit();
        });
        first.submit();
        for (int i = 0; i < 2; i++) {
            engine.requestNotification();
            assertThat(loop.await(NOW)).isEqualTo(1);
            engine.clearNotification();
            while (engine.progress()) {}
        }
        assertThat(ended).containsExactly("first", "second");
        engine.requestNotification();
        assertThat(loop.await(NOW)).isZero();
        first.free();
        later.free();
        second.stop();
    }

    @Test
    void shouldLookAfterAllContextsWhereItWasToldTo() {
        Thrown.with(Status.BAD_STATE, () -> engine.setEventMode(EventMode.ALL))
                .hasMessageContaining("contexts=1");
        ProgressEngine all = machines.add(ProgressEngine.create());
        all.setEventMode(EventMode.ALL);
        assertThat(all.eventMode()).isEqualTo(EventMode.ALL);
        assertThat(EventMode.ALL.code()).isEqualTo(1);
        TinyContext idle = machines.add(new TinyContext(context.device()));
        all.connect(idle);
        idle.start();
        all.requestNotification();
        all.clearNotification();
        int passes = idle.passes;
        boolean unused = all.progress();
        assertThat(idle.passes).isEqualTo(passes + 1);
        idle.stop();
        unused = all.progress();
    }

    @Test
    void shouldNotWaitForAContextThatCanOnlyBePolled() {
        context.eventDriven = false;
        Thrown.with(Status.NOT_SUPPORTED, engine::requestNotification)
                .hasMessageContainingAll("event mode", "tiny");
        context.eventDriven = true;
        engine.requestNotification();
        engine.clearNotification();
    }

    @Test
    void shouldArmContextsOnlyWhenAskedAndUntilCleared() {
        context.calls.clear();
        engine.progress();
        assertThat(context.calls).isEmpty();
        engine.requestNotification();
        assertThat(context.calls).containsExactly("arm");
        engine.clearNotification();
        assertThat(context.calls)
                .as("armed, looked at once more, disarmed")
                .containsExactly("arm", "arm", "disarm");
        assertThat(loop.await(NOW)).isZero();
    }

    @Test
    void shouldSignalAtOnceWhatIsThereAlready() {
        TinyTask task = context.allocate();
        task.submit();
        engine.requestNotification();
        assertThat(loop.await(DEADLINE_MILLIS)).isEqualTo(1);
        engine.clearNotification();
        assertThat(engine.progress()).isTrue();
        task.free();
    }

    @Test
    @Clause("core-164")
    void shouldLoseNoCompletionOverManyRounds() {
        int[] done = new int[1];
        TinyTask task = context.allocate();
        task.setCallback(t -> {
            if (++done[0] < 200) {
                t.submit();
            }
        });
        task.submit();
        while (done[0] < 200) {
            engine.requestNotification();
            assertThat(loop.await(DEADLINE_MILLIS)).isEqualTo(1);
            engine.clearNotification();
            while (engine.progress()) {}
        }
        task.free();
    }

    @Test
    void shouldSignalAStopThatHasYetToFlush() {
        context.completesByItself = false;
        context.allocate().submit();
        context.stop();
        engine.requestNotification();
        assertThat(loop.await(DEADLINE_MILLIS)).isEqualTo(1);
        engine.clearNotification();
        engine.progress();
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
        context.start();
    }

    @Test
    void shouldSignalWhatIsSubmittedAfterTheRequestAndHasToBeLookedAfter() {
        context.completesByItself = false;
        TinyTask waiting = context.allocate();
        TinyTask task = context.allocate();
        engine.requestNotification();
        waiting.submit();
        assertThat(loop.await(NOW)).as("progress can do nothing for it").isZero();
        context.completesByItself = true;
        task.submit();
        assertThat(loop.await(NOW)).isEqualTo(1);
        engine.clearNotification();
        while (engine.progress()) {}
        assertThat(context.inFlightTasks()).isZero();
        waiting.free();
        task.free();
    }

    @Test
    void shouldSignalAChangeOfStateAfterTheRequest() {
        List<ContextState> seen = new CopyOnWriteArrayList<>();
        TinyContext second = machines.add(new TinyContext(context.device()));
        second.setStateChangedCallback((c, previous, next) -> seen.add(next));
        engine.connect(second);
        second.completesByItself = false;
        engine.requestNotification();
        second.start();
        assertThat(loop.await(NOW)).as("a callback waits").isEqualTo(1);
        engine.clearNotification();
        while (engine.progress()) {}
        second.allocate().submit();
        engine.requestNotification();
        assertThat(loop.await(NOW)).isZero();
        second.stop();
        assertThat(loop.await(NOW)).as("a task is to be flushed").isEqualTo(1);
        engine.clearNotification();
        while (engine.progress()) {}
        assertThat(seen)
                .containsExactly(ContextState.RUNNING, ContextState.STOPPING, ContextState.IDLE);
    }

    @Test
    void shouldNotSignalAStopThatIsOver() {
        assertThat(context.stop()).isEqualTo(Status.SUCCESS);
        engine.requestNotification();
        assertThat(loop.await(NOW)).isZero();
        engine.clearNotification();
        context.start();
    }

    @Test
    void shouldSignalTheEndOfAStopThatWaitedForATaskToBeFreed() {
        for (boolean requestedBefore : new boolean[] {false, true}) {
            TinyTask task = context.allocate();
            context.drained = false;
            context.stop();
            while (engine.progress()) {}
            if (requestedBefore) {
                engine.requestNotification();
                assertThat(loop.await(NOW)).as("the user has a task").isZero();
            }
            context.drained = true;
            task.free();
            if (!requestedBefore) {
                engine.requestNotification();
            }
            assertThat(loop.await(NOW)).as("before=%s", requestedBefore).isEqualTo(1);
            engine.clearNotification();
            while (engine.progress()) {}
            assertThat(context.state()).isEqualTo(ContextState.IDLE);
            context.start();
        }
    }

    @Test
    void shouldSleepUntilTheNotificationComesForWhoHasNoLoop() throws Exception {
        engine.requestNotification();
        assertThat(engine.awaitNotification(Duration.ZERO)).isFalse();
        CountDownLatch ran = new CountDownLatch(1);
        Thread poster = Thread.ofPlatform().start(() -> context.postWork(ran::countDown));
        assertThat(engine.awaitNotification(Patience.LIMIT)).isTrue();
        assertThat(loop.await(NOW)).as("seen").isZero();
        engine.clearNotification();
        assertThat(ran.getCount()).as("nothing runs outside progress").isEqualTo(1);
        assertThat(engine.progress()).isTrue();
        poster.join();
    }

    @Test
    void shouldEndASleepAtAWakeAndTakeIt() {
        engine.wake();
        assertThat(engine.awaitNotification(Patience.LIMIT)).isTrue();
        assertThat(engine.awaitNotification(Duration.ZERO)).as("one wake, one sleep").isFalse();
        long begin = System.nanoTime();
        assertThat(engine.await(Duration.ofMillis(5))).isFalse();
        assertThat(System.nanoTime() - begin).as("nothing is left of it").isGreaterThan(4_900_000);
    }

    @Test
    void shouldRefuseToSleepInACallbackOrElsewhere() throws Exception {
        List<DpuException> refusals = new CopyOnWriteArrayList<>();
        Runnable sleep =
                () -> {
                    try {
                        boolean unused = engine.awaitNotification(Duration.ZERO);
                    } catch (DpuException e) {
                        refusals.add(e);
                    }
                };
        TinyTask task = context.allocate();
        task.setCallback(t -> sleep.run());
        task.submit();
        assertThat(engine.progress()).isTrue();
        task.free();
        Thread other = Thread.ofPlatform().start(sleep);
        other.join();
        assertThat(refusals)
                .extracting(DpuException::status)
                .containsExactly(Status.NOT_PERMITTED, Status.NOT_PERMITTED);
        assertThat(refusals.getFirst())
                .hasMessageStartingWith("awaitNotification called from inside a callback");
    }
}
