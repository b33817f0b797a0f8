package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.TinyContext.TinyTask;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ContextWaitTest {

    @TempDir Path folder;
    private Machines machines;
    private Device device;
    private ProgressEngine engine;
    private TinyContext context;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        device = machines.device(Side.HOST, "pf0");
        engine = machines.add(ProgressEngine.create());
        context = machines.add(new TinyContext(device));
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    // ---- runUntil ----

    @Test
    void shouldProgressUntilTheConditionHolds() {
        engine.start(context, Patience.LIMIT);
        List<Task> completed = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            TinyTask task = context.allocate();
            task.setCallback(t -> {
                completed.add(t);
                t.free();
            });
            task.submit();
        }
        engine.runUntil(() -> completed.size() == 3, Patience.LIMIT, context);
        assertThat(completed).hasSize(3);
    }

    @Test
    void shouldReturnWithoutProgressIfTheConditionHoldsAlready() {
        engine.start(context, Patience.LIMIT);
        long passes = engine.hits() + engine.misses();
        engine.runUntil(() -> true, Duration.ZERO, context);
        assertThat(engine.hits() + engine.misses()).isEqualTo(passes);
    }

    @Test
    void shouldNameWhatTheContextsDoWhenTheTimeIsOver() {
        engine.start(context, Patience.LIMIT);
        context.completesByItself = false;
        TinyTask submitted = context.allocate();
        submitted.setCallback(Task::free);
        TinyTask kept = context.allocate();
        submitted.submit();
        String doing = "context=" + context + ", state=RUNNING, inFlightTasks=1, allocatedTasks=2";
        Thrown.with(
                        Status.TIME_OUT,
                        () -> engine.runUntil(() -> false, Duration.ofMillis(20), context))
                .hasMessageContainingAll("timeoutMillis=20", doing, "(2 TinyTask)");
        Thrown.with(Status.TIME_OUT, () -> engine.runUntil(() -> false, Duration.ZERO))
                .as("without contexts it names those of the engine")
                .hasMessageContaining(doing);
        kept.free();
        engine.stop(context, Patience.LIMIT);
    }

    @Test
    void shouldThrowTheFailureThatEndsAContext() {
        engine.start(context, Patience.LIMIT);
        context.postWork(() -> context.breakDown(Status.CONNECTION_RESET, "peer ended: peer=7"));
        Thrown.with(
                        Status.CONNECTION_RESET,
                        () -> engine.runUntil(() -> false, Patience.LIMIT, context))
                .hasMessage("runUntil has failed: context=%s, reason=peer ended: peer=7", context)
                .satisfies(e -> {
                    assertThat(e.getCause()).isSameAs(context.failure());
                    assertThat(e.getStackTrace())
                            .as("the caller is in the stack trace")
                            .anyMatch(at -> at.getClassName().equals(getClass().getName()));
                });
    }

    @Test
    void shouldThrowTheFailureOfAContextThatIsStarting() {
        context.startsAtOnce = false;
        engine.connect(context);
        context.start();
        Thrown.with(
                Status.TIME_OUT, () -> engine.runUntil(() -> false, Duration.ofMillis(1), context));
        context.postWork(() -> context.breakDown(Status.NOT_FOUND, "no such server: server=x"));
        Thrown.with(Status.NOT_FOUND, () -> engine.runUntil(() -> false, Patience.LIMIT, context));
    }

    @Test
    void shouldLetTheConditionWinOverTheEndOfAContext() {
        engine.start(context, Patience.LIMIT);
        AtomicBoolean done = new AtomicBoolean();
        context.postWork(() -> {
            done.set(true);
            context.breakDown(Status.IO_FAILED, "disk is gone");
        });
        engine.runUntil(done::get, Patience.LIMIT, context);
        assertThat(context.failure()).isNotNull();
    }

    @Test
    void shouldNameAContextThatStopsWithoutAFailureOrWasNotStarted() {
        Thrown.with(Status.BAD_STATE, () -> engine.runUntil(() -> false, Patience.LIMIT, context))
                .hasMessageContainingAll(
                        "context was not started",
                        "context=" + context,
                        "state=IDLE",
                        "ProgressEngine.start");
        engine.start(context, Patience.LIMIT);
        context.postWork(context::stop);
        Thrown.with(Status.BAD_STATE, () -> engine.runUntil(() -> false, Patience.LIMIT, context))
                .hasMessageContainingAll("context has stopped", "context=" + context);
    }

    @Test
    void shouldRefuseToWaitForAContextOfAnotherEngineAndNameIt() {
        try (ProgressEngine second = ProgressEngine.create();
                TinyContext foreign = new TinyContext(device)) {
            second.connect(foreign);
            for (boolean started : new boolean[] {false, true}) {
                if (started) {
                    second.start(foreign, Patience.LIMIT);
                }
                Thrown.with(
                                Status.NOT_PERMITTED,
                                () -> engine.runUntil(() -> true, Patience.LIMIT, foreign))
                        .as("started=%s", started)
                        .hasMessageContainingAll(
                                "not connected to this engine",
                                "context=" + foreign,
                                "engineThread=" + Thread.currentThread().getName(),
                                "expected=runUntil of its engine");
            }
        }
    }

    @Test
    void shouldEndForAConditionOfAnotherThreadThatWakesTheEngine() throws Exception {
        engine.start(context, Patience.LIMIT);
        AtomicBoolean done = new AtomicBoolean();
        CountDownLatch waiting = new CountDownLatch(1);
        Thread other =
                Thread.ofPlatform()
                        .start(() -> {
                            try {
                                assertThat(waiting.await(Patience.SECONDS, TimeUnit.SECONDS))
                                        .isTrue();
                            } catch (InterruptedException e) {
                                return;
                            }
                            done.set(true);
                            engine.wake();
                        });
        engine.runUntil(
                () -> {
                    waiting.countDown();
                    return done.get();
                },
                Patience.LIMIT,
                context);
        other.join();
    }

    @Test
    void shouldRefuseToWaitInsideACallbackAndOnAnotherThread() throws Exception {
        engine.start(context, Patience.LIMIT);
        List<String> refused = new ArrayList<>();
        context.postWork(() -> {
            for (Runnable call : calls()) {
                Thrown.with(Status.NOT_PERMITTED, call::run);
                refused.add("refused");
            }
        });
        engine.progress();
        assertThat(refused).hasSize(3);
        assertThat(ContextTest.onAnotherThread(calls().toArray(Runnable[]::new)))
                .hasSize(3)
                .extracting(DpuException::status)
                .containsOnly(Status.NOT_PERMITTED);
    }

    private List<Runnable> calls() {
        return List.of(
                () -> engine.runUntil(() -> true, Patience.LIMIT),
                () -> engine.start(context, Patience.LIMIT),
                () -> engine.stop(context, Patience.LIMIT));
    }

    @Test
    void shouldPassOnAnExceptionOfACallback() {
        engine.start(context, Patience.LIMIT);
        IllegalStateException thrown = new IllegalStateException("of the callback");
        context.postWork(() -> {
            throw thrown;
        });
        assertThatThrownBy(() -> engine.runUntil(() -> false, Patience.LIMIT, context))
                .isSameAs(thrown);
    }

    // ---- start ----

    @Test
    void shouldConnectStartAndWaitUntilItRuns() {
        context.startsAtOnce = false;
        context.setStateChangedCallback((c, previous, next) -> {
            if (next == ContextState.STARTING) {
                context.establish();
            }
        });
        engine.start(context, Patience.LIMIT);
        assertThat(context.state()).isEqualTo(ContextState.RUNNING);
        engine.start(context, Patience.LIMIT);
        assertThat(context.calls).as("started once").containsOnlyOnce("start");
    }

    @Test
    void shouldJoinAStartUnderWay() {
        context.startsAtOnce = false;
        engine.connect(context);
        context.start();
        context.establish();
        engine.start(context, Patience.LIMIT);
        assertThat(context.state()).isEqualTo(ContextState.RUNNING);
    }

    @Test
    void shouldThrowTheFailureOfAStart() {
        context.startsAtOnce = false;
        engine.connect(context);
        context.postWork(() -> context.breakDown(Status.AUTHENTICATION, "refused: server=x"));
        Thrown.with(Status.AUTHENTICATION, () -> engine.start(context, Patience.LIMIT))
                .hasMessage("start has failed: context=%s, reason=refused: server=x", context)
                .satisfies(e -> assertThat(e.getCause()).isSameAs(context.failure()));
    }

    @Test
    void shouldNameWhatAStartWaitsForWhenTheTimeIsOver() {
        context.startsAtOnce = false;
        context.awaited = "awaited=reply of the peer";
        Thrown.with(Status.TIME_OUT, () -> engine.start(context, Duration.ofMillis(20)))
                .hasMessageContainingAll(
                        "timeoutMillis=20",
                        "context=" + context,
                        "state=STARTING",
                        "awaited=reply of the peer");
        assertThat(context.state()).as("remains so").isEqualTo(ContextState.STARTING);
    }

    @Test
    void shouldRefuseToStartAContextOfAnotherEngine() {
        try (ProgressEngine second = ProgressEngine.create()) {
            second.connect(context);
            Thrown.with(Status.NOT_PERMITTED, () -> engine.start(context, Patience.LIMIT));
            second.start(context, Patience.LIMIT);
            Thrown.with(Status.NOT_PERMITTED, () -> engine.stop(context, Patience.LIMIT))
                    .hasMessageContaining("not connected to this engine");
            context.close();
        }
    }

    // ---- stop ----

    @Test
    void shouldFlushAndWaitUntilItIsIdle() {
        engine.start(context, Patience.LIMIT);
        context.completesByItself = false;
        List<Status> ended = new ArrayList<>();
        TinyTask task = context.allocate();
        task.setCallback(t -> {
            ended.add(t.status());
            t.free();
        });
        task.submit();
        engine.stop(context, Patience.LIMIT);
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
        assertThat(ended).containsExactly(Status.SHUTDOWN);
        engine.stop(context, Patience.LIMIT);
        engine.start(context, Patience.LIMIT);
    }

    @Test
    void shouldStopAContextThatWasNeverConnectedByDoingNothing() {
        engine.stop(context, Patience.LIMIT);
        assertThat(context.calls).isEmpty();
    }

    @Test
    void shouldJoinAStopUnderWay() {
        engine.start(context, Patience.LIMIT);
        context.drained = false;
        context.stop();
        context.postWork(() -> context.drained = true);
        engine.stop(context, Patience.LIMIT);
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
    }

    @Test
    void shouldNameTheTasksThatKeepAContextInStopping() {
        engine.start(context, Patience.LIMIT);
        context.waitsForTasks = true;
        TinyTask first = context.allocate();
        TinyTask second = context.allocate();
        Thrown.with(Status.TIME_OUT, () -> engine.stop(context, Duration.ofMillis(20)))
                .hasMessageContainingAll(
                        "context=" + context,
                        "state=STOPPING",
                        "inFlightTasks=0",
                        "allocatedTasks=2 (2 TinyTask)");
        assertThat(context.allocatedTasks()).isEqualTo(2);
        first.free();
        second.free();
        assertThat(context.allocatedTasks()).isZero();
        engine.stop(context, Patience.LIMIT);
    }

    @Test
    void shouldEndAWaitWhenAContextIsClosedInACallback() {
        context.setStateChangedCallback((c, previous, next) -> {
            if (next == ContextState.IDLE) {
                c.close();
            }
        });
        engine.start(context, Patience.LIMIT);
        context.drained = false;
        context.stop();
        context.postWork(() -> context.drained = true);
        engine.stop(context, Patience.LIMIT);
        assertThat(context.calls).contains("destroy");
        Thrown.with(Status.BAD_STATE, () -> engine.start(context, Patience.LIMIT));
    }

    @Test
    void shouldRefuseANegativeTimeoutAndAContextThatIsNull() {
        Duration negative = Duration.ofNanos(-1);
        Thrown.with(Status.INVALID_VALUE, () -> engine.runUntil(() -> true, negative));
        Thrown.with(Status.INVALID_VALUE, () -> engine.start(context, negative));
        Thrown.with(Status.INVALID_VALUE, () -> engine.stop(context, negative));
        @Nullable Context[] none = {null};
        Thrown.with(Status.INVALID_VALUE, () -> engine.runUntil(() -> true, Patience.LIMIT, none));
        engine.start(context, Duration.ofSeconds(Long.MAX_VALUE));
    }

    // ---- names ----

    @Test
    void shouldNumberContextsSoThatTwoOfOneKindCanBeToldApart() {
        try (TinyContext second = new TinyContext(device)) {
            assertThat(context.toString()).matches("tiny #[0-9]+");
            assertThat(second.toString()).matches("tiny #[0-9]+").isNotEqualTo(context.toString());
        }
    }
}
