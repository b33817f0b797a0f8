package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.execution.TinyContext.TinyTask;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Interrupts of threads that wait in core, for what never comes. */
class InterruptedWaitsTest {
    private static final Duration SHORT = Duration.ofMillis(1);

    @TempDir Path folder;
    private Machines machines;
    private ProgressEngine engine;
    private TinyContext context;
    private WorkQueue queue;
    private @Nullable TinyTask held;
    private @Nullable TinyContext starting;

    /** The waits; each is for what never comes. */
    enum Wait {
        AWAIT("awaited=work", (test, limit) -> test.engine.await(limit)),
        AWAIT_DEADLINE("awaited=work", (test, limit) -> test.engine.await(Deadline.in(limit))),
        AWAIT_UNTIL(
                "awaited=work",
                (test, limit) -> test.engine.awaitUntil(System.nanoTime() + limit.toNanos())),
        RUN_UNTIL(
                "awaited=a condition, context=tiny",
                (test, limit) -> test.engine.runUntil(() -> false, limit, test.context)),
        START(
                "awaited=RUNNING, context=tiny",
                (test, limit) -> test.engine.start(test.starting(), limit)),
        STOP(
                "awaited=IDLE, context=tiny",
                (test, limit) -> test.engine.stop(test.stopping(), limit)),
        AWAIT_NOTIFICATION(
                "awaited=a notification", (test, limit) -> test.engine.awaitNotification(limit)),
        AWAIT_EVENT(
                "awaited=a signal, inFlightJobs=0", (test, limit) -> test.queue.awaitEvent(limit));

        private final String awaited;
        private final Call call;

        Wait(String awaited, Call call) {
            this.awaited = awaited;
            this.call = call;
        }

        interface Call {
            void run(InterruptedWaitsTest test, Duration limit);
        }
    }

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        engine = machines.add(ProgressEngine.create());
        context = machines.add(new TinyContext(machines.device(Side.HOST, "pf0")));
        engine.start(context, Patience.LIMIT);
        queue = machines.add(WorkQueue.create(1).setEventDriven(true));
    }

    @AfterEach
    void close() throws Exception {
        var _ = Thread.interrupted();
        machines.close();
    }

    private TinyContext starting() {
        if (starting == null) {
            starting = new TinyContext(context.device());
            starting.startsAtOnce = false;
            machines.add(starting);
        }
        return starting;
    }

    private TinyContext stopping() {
        if (held == null) {
            context.waitsForTasks = true;
            held = context.allocate();
        }
        return context;
    }

    private void end() {
        if (held != null) {
            held.free();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndAtOnceOnAThreadThatWasInterruptedBeforeAndBeRepeatable(Wait wait) {
        Thread.currentThread().interrupt();
        assertEnded(wait, () -> wait.call.run(this, Patience.LIMIT));
        assertEnded(wait, () -> wait.call.run(this, Patience.LIMIT));
        assertThat(Thread.interrupted()).isTrue();
        assertThat(statusOf(() -> wait.call.run(this, SHORT))).isIn(null, Status.TIME_OUT);
        end();
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndAtOnceWhileItSleepsAndBeRepeatable(Wait wait) throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        FutureTask<Void> interrupter = interruptWhileIn("Poller.poll", ended);
        assertEnded(wait, () -> wait.call.run(this, Patience.LIMIT));
        ended.set(true);
        assertThat(Thread.interrupted()).isTrue();
        interrupter.get();
        assertThat(statusOf(() -> wait.call.run(this, SHORT))).isIn(null, Status.TIME_OUT);
        end();
    }

    private void assertEnded(Wait wait, Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.CONNECTION_ABORTED))
                .hasMessageContainingAll("interrupted", wait.awaited);
        assertThat(Thread.currentThread().isInterrupted()).as("the flag is kept").isTrue();
    }

    private static @Nullable Status statusOf(Runnable call) {
        try {
            call.run();
            return null;
        } catch (DpuException e) {
            return e.status();
        }
    }

    /**
     * Interrupts this thread as soon as it is in a method, and waits until its wait has ended: not
     * as long as the wait itself would.
     */
    private static FutureTask<Void> interruptWhileIn(String method, AtomicBoolean ended) {
        Thread waiting = Thread.currentThread();
        FutureTask<Void> task =
                new FutureTask<>(
                        () -> {
                            awaitIn(waiting, method);
                            waiting.interrupt();
                            Await.until("the wait ends", ended::get);
                        },
                        null);
        Thread.ofPlatform().start(task);
        return task;
    }

    /** Waits until a thread is in a method: the class and the method. */
    static void awaitIn(Thread waiting, String method) {
        Await.until(
                "thread is in " + method,
                () ->
                        Arrays.stream(waiting.getStackTrace())
                                .map(at -> at.getClassName() + "." + at.getMethodName())
                                .anyMatch(at -> at.endsWith("." + method)));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldEndAProgramThatServesOnAThreadOfAPool(boolean shutdown) throws Exception {
        CompletableFuture<Thread> serving = new CompletableFuture<>();
        CompletableFuture<@Nullable Status> ended = new CompletableFuture<>();
        try (ExecutorService pool = Executors.newSingleThreadExecutor()) {
            Future<?> program =
                    pool.submit(() -> {
                        try (ProgressEngine own = ProgressEngine.create()) {
                            serving.complete(Thread.currentThread());
                            ended.complete(
                                    statusOf(() -> own.runUntil(() -> false, Deadline.NO_LIMIT)));
                        }
                    });
            awaitIn(serving.join(), "Poller.poll");
            if (shutdown) {
                pool.shutdownNow();
            } else {
                program.cancel(true);
            }
            assertThat(ended.get(Patience.SECONDS, TimeUnit.SECONDS))
                    .isEqualTo(Status.CONNECTION_ABORTED);
        }
    }

    @Test
    void shouldMakeProgressAndPollOnAnInterruptedThread() {
        BooleanSupplier done = context.submitOne();
        Thread.currentThread().interrupt();
        assertThat(engine.await(Patience.LIMIT)).as("there is work").isTrue();
        engine.runUntil(done, Patience.LIMIT, context);
        assertThat(engine.await(Duration.ZERO)).as("does not wait").isFalse();
        assertThat(engine.progress()).isFalse();
        assertThat(engine.awaitNotification(Duration.ZERO)).isFalse();
        assertThat(queue.awaitEvent(Duration.ZERO)).isFalse();
    }

    @Test
    void shouldDoTheWorkThatEndsAWaitOfAnInterruptedThread() {
        BooleanSupplier done = context.submitOne();
        TinyContext late = starting();
        Thread.currentThread().interrupt();
        engine.runUntil(done, Patience.LIMIT, context);
        engine.execute(() -> engine.execute(late::establishNow)); // two passes
        engine.start(late, Patience.LIMIT);
        TinyContext ending = stopping();
        engine.execute(held::free);
        engine.stop(ending, Patience.LIMIT);
        held = null;
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        assertThat(statusOf(() -> engine.runUntil(() -> false, Duration.ZERO)))
                .as("does not wait")
                .isEqualTo(Status.TIME_OUT);
    }

    @Test
    void shouldKeepANotificationAndAWakeOfAnInterruptedThread() {
        engine.wake();
        Thread.currentThread().interrupt();
        assertEnded(Wait.AWAIT_NOTIFICATION, () -> engine.awaitNotification(Patience.LIMIT));
        var _ = Thread.interrupted();
        assertThat(engine.awaitNotification(Patience.LIMIT)).as("the wake is kept").isTrue();
        engine.clearNotification();

        engine.wake();
        Thread.currentThread().interrupt();
        assertEnded(Wait.AWAIT, () -> engine.await(Patience.LIMIT));
        var _ = Thread.interrupted();
        assertThat(engine.await(Patience.LIMIT)).as("ended by the wake").isFalse();
    }

    @Test
    void shouldNotTakeAnInterruptThatWasClearedForANotification() throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        FutureTask<Void> interrupter = interruptWhileIn("Poller.poll", ended);
        assertEnded(Wait.AWAIT_NOTIFICATION, () -> engine.awaitNotification(Patience.LIMIT));
        ended.set(true);
        assertThat(Thread.interrupted()).isTrue();
        interrupter.get(); // what ended the sleep has been signalled
        assertThat(engine.awaitNotification(Duration.ZERO)).isFalse();
        assertThat(engine.awaitNotification(SHORT)).isFalse();
    }

    @Test
    void shouldStillCloseInOrderOnAnInterruptedThread() {
        TinyTask task = context.allocate();
        task.setCallback(Task::free);
        task.submit();
        Thread.currentThread().interrupt();
        context.close();
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
    }

    @Test
    void shouldSayWhatIsLeftWhenAnInterruptedThreadClosesWhatDoesNotEnd() {
        context.drained = false;
        context.awaited = "the peer";
        context.calls.clear();
        Thread.currentThread().interrupt();
        assertThatThrownBy(context::close)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.IN_USE))
                .hasMessageContainingAll("context does not stop", "the peer", "interrupted")
                .hasNoSuppressedExceptions();
        // Each sleep takes half a second at most, which is the limit, too: the limit of a thread
        // that is not interrupted has twelve of them.
        assertThat(Collections.frequency(context.calls, "arm")).as("sleeps").isBetween(1, 4);
        var _ = Thread.interrupted();
        context.drained = true;
        context.awaited = null;
        context.close();
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
    }
}
