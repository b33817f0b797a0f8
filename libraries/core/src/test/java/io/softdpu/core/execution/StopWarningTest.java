package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.TinyContext.TinyTask;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.LogCapture;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Soak;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The warning of a context that does not leave STOPPING. */
class StopWarningTest {

    @TempDir Path folder;
    private final LogCapture log = new LogCapture(Context.class.getName());
    private Machines machines;
    private Device device;
    private ProgressEngine engine;
    private TinyContext context;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        device = machines.device(Side.HOST, "pf0");
        running();
    }

    private void running() {
        engine = machines.add(ProgressEngine.create());
        context = machines.add(new TinyContext(device));
        context.recording = false;
        context.waitsForTasks = true;
        engine.start(context, Patience.LIMIT);
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
        log.close();
    }

    private List<LogRecord> warnings() {
        return log.with("context=" + context + ",");
    }

    /** Stops the context, and lets the program do what it does until the warning is there. */
    private LogRecord awaitWarning(Runnable program) {
        assertThat(context.stop()).isEqualTo(Status.IN_PROGRESS);
        long begin = System.nanoTime();
        Await.byStep("the warning", () -> !warnings().isEmpty(), program);
        long millis = (System.nanoTime() - begin) / 1_000_000;
        System.out.println("warning of a stop that lasts: afterMillis=" + millis);
        assertThat(millis).as("milliseconds to the warning").isGreaterThanOrEqualTo(900);
        LogRecord warning = warnings().getFirst();
        assertThat(warning.getLevel()).isEqualTo(Level.WARNING);
        return warning;
    }

    @Test
    void shouldNameTheTaskThatWasForgottenWhileTheEngineSleeps() {
        TinyTask forgotten = context.allocate();
        LogRecord warning = awaitWarning(() -> engine.await(Patience.LIMIT));
        assertThat(warning.getMessage())
                .contains(
                        "state=STOPPING",
                        "inFlightTasks=0",
                        "allocatedTasks=1 (1 TinyTask)",
                        "allocatedAt=unknown without SOFTDPU_SANITIZE");
        forgotten.free();
    }

    @Tag(Soak.FULL_TAG)
    @Test
    void shouldNameTheAllocationThatKeepsAContextInStopping() {
        try (Sanitizer sanitizer = Sanitizer.start(1)) {
            running(); // both are the sanitizer's
            TinyTask forgotten = allocateAndForget();
            LogRecord warning = awaitWarning(() -> engine.await(Patience.LIMIT));
            assertThat(warning.getMessage())
                    .contains("allocatedAt=")
                    .contains(getClass().getName() + ".allocateAndForget(");
            assertThat(warning.getThrown()).hasMessage("allocated here");
            String place = getClass().getName() + ".allocateAndForget(";
            Thrown.with(Status.TIME_OUT, () -> engine.stop(context, Duration.ofMillis(1)))
                    .as("the same text")
                    .hasMessageContaining(place);
            context.postWork(
                    () -> Thrown.with(Status.IN_USE, context::close).hasMessageContaining(place));
            engine.progress();
            forgotten.free();
            engine.stop(context, Patience.LIMIT);
            assertThat(sanitizer.seed()).isEqualTo(1);
        }
    }

    private TinyTask allocateAndForget() {
        return context.allocate();
    }

    @Tag(Soak.FULL_TAG)
    @Test
    void shouldWarnAProgramThatPolls() {
        TinyTask forgotten = context.allocate();
        awaitWarning(() -> engine.progress());
        forgotten.free();
    }

    @Tag(Soak.FULL_TAG)
    @Test
    void shouldWarnAProgramInEventMode() {
        TinyTask forgotten = context.allocate();
        awaitWarning(() -> {
            engine.requestNotification();
            assertThat(engine.awaitNotification(Patience.LIMIT)).as("notified").isTrue();
            engine.clearNotification();
            while (engine.progress()) {}
        });
        forgotten.free();
    }

    @Tag(Soak.FULL_TAG)
    @Test
    void shouldNameTheEventThatTheLibraryWaitsFor() {
        context.drained = false;
        context.awaited = "awaited=disconnect by the peer";
        LogRecord warning = awaitWarning(() -> engine.await(Patience.LIMIT));
        assertThat(warning.getMessage())
                .contains("awaited=disconnect by the peer", "allocatedTasks=0")
                .doesNotContain("allocatedAt");
        context.drained = true;
    }

    @Tag(Soak.FULL_TAG)
    @Test
    void shouldWarnOncePerStop() {
        TinyTask forgotten = context.allocate();
        awaitWarning(() -> engine.await(Patience.LIMIT));
        Thrown.with(Status.TIME_OUT, () -> engine.stop(context, Duration.ofMillis(1_200)));
        assertThat(warnings()).hasSize(1);
        forgotten.free();
        engine.stop(context, Patience.LIMIT);
        engine.start(context, Patience.LIMIT);
        TinyTask second = context.allocate();
        context.stop();
        Thrown.with(Status.TIME_OUT, () -> engine.stop(context, Duration.ofMillis(1_200)));
        assertThat(warnings()).as("of the second stop").hasSize(2);
        second.free();
    }

    @Test
    void shouldNotWarnOfAContextThatStops() {
        TinyTask task = context.allocate();
        context.stop();
        task.free();
        engine.stop(context, Patience.LIMIT);
        Thrown.with(Status.TIME_OUT, () -> engine.runUntil(() -> false, Duration.ofMillis(1_200)));
        assertThat(warnings()).isEmpty();
    }
}
