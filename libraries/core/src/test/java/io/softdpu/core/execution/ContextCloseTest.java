package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.TinyContext.TinyTask;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Soak;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Close of contexts on an engine, as in try-with-resources. */
class ContextCloseTest {

    @TempDir Path folder;
    private Machines machines;
    private Device device;
    private final List<Status> ended = new ArrayList<>();

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        device = machines.device(Side.HOST, "pf0");
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private TinyContext running(ProgressEngine engine) {
        TinyContext context = new TinyContext(device);
        context.recording = false;
        context.waitsForTasks = true;
        context.completesByItself = false;
        engine.start(context, Patience.LIMIT);
        return context;
    }

    private void submit(TinyContext context) {
        TinyTask task = context.allocate();
        task.setCallback(t -> {
            ended.add(t.status());
            t.free();
        });
        task.submit();
    }

    @Test
    void shouldStopFlushAndCloseAtTheEndOfATryBlock() {
        try (ProgressEngine engine = ProgressEngine.create();
                TinyContext first = running(engine);
                TinyContext second = running(engine)) {
            submit(first);
            submit(second);
            submit(second);
        }
        assertThat(ended).containsExactly(Status.SHUTDOWN, Status.SHUTDOWN, Status.SHUTDOWN);
    }

    @Test
    void shouldCloseAContextThatIsStartingAndOneThatHasFailed() {
        try (ProgressEngine engine = ProgressEngine.create();
                TinyContext starting = new TinyContext(device);
                TinyContext failed = running(engine)) {
            starting.startsAtOnce = false;
            engine.connect(starting);
            starting.start();
            submit(failed);
            failed.postWork(() -> failed.breakDown(Status.CONNECTION_RESET, "peer ended"));
            Thrown.with(
                    Status.CONNECTION_RESET,
                    () -> engine.runUntil(() -> false, Patience.LIMIT, failed));
        }
        assertThat(ended).hasSize(1);
    }

    @Test
    void shouldCloseWithoutFurtherErrorsAfterAFailureInTheTryBlock() {
        IllegalStateException failure = new IllegalStateException("of the program");
        assertThatThrownBy(
                        () -> {
                            try (ProgressEngine engine = ProgressEngine.create();
                                    TinyContext first = running(engine);
                                    TinyContext second = running(engine)) {
                                submit(first);
                                submit(second);
                                throw failure;
                            }
                        })
                .isSameAs(failure)
                .hasNoSuppressedExceptions();
        assertThat(ended).hasSize(2);
    }

    @Test
    void shouldNameAForgottenTaskOnceAndReleaseEverythingElse() {
        List<TinyTask> forgotten = new ArrayList<>();
        List<TinyContext> contexts = new ArrayList<>();
        try (Sanitizer sanitizer = Sanitizer.start(3)) {
            Throwable thrown =
                    catchThrowable(() -> {
                        try (ProgressEngine engine = ProgressEngine.create();
                                TinyContext context = running(engine);
                                TinyContext other = running(engine)) {
                            contexts.add(context);
                            submit(other);
                            forgotten.add(context.allocate());
                        }
                    });
            assertThat(thrown).isInstanceOf(DpuException.class).hasNoSuppressedExceptions();
            assertThat(((DpuException) thrown).status()).isEqualTo(Status.IN_USE);
            assertThat(thrown)
                    .hasMessageContainingAll(
                            "context was closed, but tasks were not freed",
                            "context=" + contexts.getFirst(),
                            "allocatedTasks=1 (1 TinyTask)",
                            "allocatedAt=" + getClass().getName());
            assertThat(thrown.getCause()).hasMessage("allocated here");
            assertThat(sanitizer.reports(SanitizerReport.Kind.TASK_LEAKED)).isEqualTo(1);
        }
        device.close();
        TinyTask task = forgotten.getFirst();
        assertThat(task.trySubmit()).isEqualTo(Status.BAD_STATE);
        task.free();
        contexts.getFirst().close();
    }

    @Test
    void shouldFailWithoutASleepIfNoCallbackCanFreeTheTasks() {
        try (ProgressEngine engine = ProgressEngine.create();
                TinyContext other = running(engine)) {
            TinyContext context = running(engine);
            TinyTask kept = context.allocate();
            context.recording = true;
            Thrown.with(Status.IN_USE, context::close)
                    .hasMessageContainingAll(
                            "context was closed, but tasks were not freed",
                            "allocatedTasks=1 (1 TinyTask)");
            assertThat(context.calls).contains("destroy").doesNotContain("arm");
            assertThat(other.state()).isEqualTo(ContextState.RUNNING);
            kept.free();
        }
    }

    @Test
    void shouldWaitForACallbackWhileAnotherContextHasATaskInFlight() {
        try (ProgressEngine engine = ProgressEngine.create();
                TinyContext other = running(engine)) {
            TinyContext context = running(engine);
            TinyTask kept = context.allocate();
            TinyTask task = other.allocate();
            task.setCallback(t -> {
                kept.free();
                t.free();
            });
            task.submit();
            EngineTimer timer = engine.timer(() -> other.allow(1));
            timer.set(Duration.ofMillis(50));
            context.close();
            assertThat(timer.isSet()).isFalse();
        }
    }

    @Test
    void shouldWaitForACallbackWhileAnotherContextWaitsForAPeer() {
        try (ProgressEngine engine = ProgressEngine.create();
                TinyContext other = new TinyContext(device)) {
            TinyContext context = running(engine);
            TinyTask kept = context.allocate();
            other.startsAtOnce = false;
            other.awaited = "awaited=reply of the peer";
            other.setStateChangedCallback((c, previous, next) -> {
                if (next == ContextState.RUNNING) {
                    kept.free();
                }
            });
            engine.connect(other);
            other.start();
            EngineTimer timer = engine.timer(other::establish);
            timer.set(Duration.ofMillis(50));
            context.close();
            assertThat(other.state()).isEqualTo(ContextState.RUNNING);
        }
    }

    @Test
    void shouldCountOnWorkThatIsPostedAlready() {
        try (ProgressEngine engine = ProgressEngine.create()) {
            TinyContext context = running(engine);
            TinyTask kept = context.allocate();
            context.postWork(() -> context.postWork(kept::free));
            context.close();
            assertThat(context.state()).isEqualTo(ContextState.IDLE);
        }
    }

    @Test
    void shouldWaitForTheLibraryAfterItHasGivenUpTheTasks() {
        try (ProgressEngine engine = ProgressEngine.create()) {
            TinyContext context = running(engine);
            TinyTask kept = context.allocate();
            context.drained = false;
            EngineTimer timer = engine.timer(() -> context.drained = true);
            timer.set(Duration.ofMillis(50));
            Thrown.with(Status.IN_USE, context::close)
                    .hasMessageContaining("context was closed, but tasks were not freed");
            assertThat(context.calls).contains("destroy");
            kept.free();
        }
    }

    @Tag(Soak.FULL_TAG)
    @Test
    void shouldRemainOpenIfTheLibraryDoesNotEnd() {
        try (ProgressEngine engine = ProgressEngine.create();
                TinyContext context = running(engine)) {
            context.drained = false;
            Thrown.with(Status.IN_USE, context::close)
                    .hasMessageContainingAll("context does not stop", "state=STOPPING");
            assertThat(context.state()).isEqualTo(ContextState.STOPPING);
            context.drained = true;
        }
    }

    @Tag(Soak.FULL_TAG)
    @Test
    void shouldWaitLongerForAPeer() {
        try (ProgressEngine engine = ProgressEngine.create();
                TinyContext context = running(engine)) {
            context.drained = false;
            context.awaited = "awaited=disconnect by the peer";
            long begin = System.nanoTime();
            Thrown.with(Status.IN_USE, context::close).hasMessageContaining(context.awaited);
            assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(6_000_000_000L);
            context.drained = true;
        }
    }

    @Test
    void shouldOnlyBeginToStopInsideACallback() {
        try (ProgressEngine engine = ProgressEngine.create();
                TinyContext context = running(engine)) {
            submit(context);
            context.postWork(() ->
                    Thrown.with(Status.IN_USE, context::close)
                            .hasMessageContainingAll("has to be stopped first", "state=STOPPING"));
            engine.runUntil(() -> context.state() == ContextState.IDLE, Patience.LIMIT);
        }
        assertThat(ended).containsExactly(Status.SHUTDOWN);
    }

    @Test
    void shouldEndWhenACallbackClosesTheContextMeanwhile() {
        try (ProgressEngine engine = ProgressEngine.create();
                TinyContext other = running(engine);
                TinyContext context = new TinyContext(device)) {
            context.setStateChangedCallback((c, previous, next) -> {
                if (next == ContextState.IDLE) {
                    c.close();
                    other.stop();
                }
            });
            engine.start(context, Patience.LIMIT);
            context.drained = false;
            context.postWork(() -> context.drained = true);
            context.close();
            assertThat(context.calls).containsOnlyOnce("destroy");
            assertThat(other.state()).isNotEqualTo(ContextState.RUNNING);
        }
    }

    @Test
    void shouldCloseFirstAndThenThrowWhatACallbackHasThrown() {
        IllegalStateException first = new IllegalStateException("of the first callback");
        IllegalStateException second = new IllegalStateException("of the second callback");
        try (ProgressEngine engine = ProgressEngine.create()) {
            TinyContext context = running(engine);
            for (IllegalStateException thrown : List.of(first, second)) {
                TinyTask task = context.allocate();
                task.setCallback(t -> {
                    t.free();
                    throw thrown;
                });
                task.submit();
            }
            assertThatThrownBy(context::close).isSameAs(first).hasSuppressedException(second);
            context.close();
        }
    }

    @Test
    void shouldDriveTheEngineForOtherContextsToo() {
        try (ProgressEngine engine = ProgressEngine.create();
                TinyContext other = running(engine);
                TinyContext context = running(engine)) {
            TinyTask kept = context.allocate();
            TinyTask task = other.allocate();
            task.setCallback(t -> {
                kept.free(); // of the context that is being closed
                t.free();
            });
            task.submit();
            other.allow(1);
            context.close();
            assertThat(context.state()).isEqualTo(ContextState.IDLE);
        }
    }
}
