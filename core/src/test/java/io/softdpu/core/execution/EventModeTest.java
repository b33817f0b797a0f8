package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.execution.TinyContext.TinyTask;
import io.softdpu.linux.Epoll;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
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
    private static final int DEADLINE_MILLIS = 20_000;

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
        while (context.state() != ContextState.IDLE) {
            engine.progress();
        }
        machines.close();
    }

    @Test
    @Clause({"core-158", "core-160", "core-162", "core-163"})
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
    @Clause({"core-161", "core-152"})
    void shouldArmContextsOnlyWhenAskedAndUntilCleared() {
        context.calls.clear();
        engine.progress();
        assertThat(context.calls).isEmpty();
        engine.requestNotification();
        assertThat(context.calls).containsExactly("arm");
        engine.clearNotification();
        assertThat(context.calls).containsExactly("arm", "disarm");
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
    @Clause({"core-164", "core-136"})
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
    void shouldSleepUntilTheNotificationComesForWhoHasNoLoop() throws Exception {
        engine.requestNotification();
        assertThat(engine.awaitNotification(0)).isFalse();
        CountDownLatch ran = new CountDownLatch(1);
        Thread poster = Thread.ofPlatform().start(() -> context.postWork(ran::countDown));
        assertThat(engine.awaitNotification(DEADLINE_MILLIS * 1_000_000L)).isTrue();
        assertThat(loop.await(NOW)).as("seen").isZero();
        engine.clearNotification();
        assertThat(ran.getCount()).as("nothing runs outside progress").isEqualTo(1);
        assertThat(engine.progress()).isTrue();
        poster.join();
    }

    @Test
    void shouldEndASleepAtAWakeAndTakeIt() {
        engine.wake();
        assertThat(engine.awaitNotification(DEADLINE_MILLIS * 1_000_000L)).isTrue();
        assertThat(engine.awaitNotification(0)).as("one wake, one sleep").isFalse();
        long begin = System.nanoTime();
        assertThat(engine.await(5_000_000)).isFalse();
        assertThat(System.nanoTime() - begin).as("nothing is left of it").isGreaterThan(4_900_000);
    }

    @Test
    void shouldRefuseToSleepInACallbackOrElsewhere() throws Exception {
        List<DpuException> refusals = new CopyOnWriteArrayList<>();
        Runnable sleep =
                () -> {
                    try {
                        boolean unused = engine.awaitNotification(0);
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
