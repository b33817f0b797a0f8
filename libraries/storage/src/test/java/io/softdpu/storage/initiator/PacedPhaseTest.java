package io.softdpu.storage.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.Pipeline;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.Workload;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Phases whose transactions pause between two operations. */
class PacedPhaseTest {
    private static final int VOLUME_BYTES = 1 << 16;
    private static final long PACE = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long HOUR = TimeUnit.HOURS.toNanos(1);

    @TempDir Path folder;

    @Test
    void shouldBeginNoOperationBeforeItsTurn() {
        PhaseReport report =
                run(
                        Phase.read("paced")
                                .transactions(2)
                                .operations(20)
                                .pace(Duration.ofNanos(PACE))
                                .build());

        assertThat(report.operations()).isEqualTo(20);
        // Each of the two has ten, and rests nine times.
        assertThat(report.duration().toNanos()).isGreaterThanOrEqualTo(9 * PACE);
    }

    @Test
    void shouldMeasureFromTheDueTimeToo() {
        PhaseReport report =
                run(
                        Phase.read("paced")
                                .transactions(2)
                                .operations(20)
                                .pace(Duration.ofNanos(PACE))
                                .build());

        LatencySummary sinceDue = report.latencySinceDue();
        assertThat(sinceDue.count()).isEqualTo(20);
        assertThat(sinceDue.minNanos()).isGreaterThanOrEqualTo(report.latency().minNanos());
        assertThat(sinceDue.maxNanos()).isGreaterThanOrEqualTo(report.latency().maxNanos());
        assertThat(sinceDue.meanNanos()).isGreaterThanOrEqualTo(report.latency().meanNanos());
        assertThat(report.cores())
                .singleElement()
                .satisfies(core -> assertThat(core.latencySinceDue()).isEqualTo(sinceDue));
    }

    /** At a pace that no pipeline keeps, an operation is due when the one before is submitted. */
    @Test
    void shouldCountTheDelayOfAnOperationThatWasDueWhileAnotherWasInFlight() {
        int operations = 50;
        long pace = 10;
        PhaseReport report =
                run(Phase.read("late").operations(operations).pace(Duration.ofNanos(pace)).build());

        // So all latencies but the last count twice; a histogram is right to a thousandth.
        double once = operations * report.latency().meanNanos();
        double twice = 2 * once - report.latency().maxNanos() - operations * pace;
        assertThat(operations * report.latencySinceDue().meanNanos())
                .isGreaterThan(0.99 * twice)
                .isGreaterThan(once);
    }

    /** Both cores are late, so that the latencies from the submission are others. */
    @Test
    void shouldMeasureFromTheDueTimeOnAllCores() {
        Phase phase = Phase.read("late").operations(50).pace(Duration.ofNanos(10)).build();
        try (Pipeline pipeline = new Pipeline(folder).cores(2, 2)) {
            StorageInitiator initiator = pipeline.start(VOLUME_BYTES, workload(phase));
            initiator.run();

            PhaseReport report = initiator.initiatorReport().phases().getFirst();
            LatencySummary first = report.cores().get(0).latencySinceDue();
            LatencySummary second = report.cores().get(1).latencySinceDue();
            LatencySummary all = report.latencySinceDue();
            assertThat(all.count()).isEqualTo(100);
            assertThat(all.minNanos()).isEqualTo(Math.min(first.minNanos(), second.minNanos()));
            assertThat(all.maxNanos()).isEqualTo(Math.max(first.maxNanos(), second.maxNanos()));
            assertThat(all.meanNanos()).isGreaterThan(report.latency().meanNanos());
        }
    }

    @Test
    void shouldNotMeasureFromADueTimeWithoutAPace() {
        assertThat(run(Phase.read("free").operations(5).build()).latencySinceDue()).isNull();
    }

    @Test
    void shouldEndInTimeWhereTheNextTurnIsFarAway() {
        PhaseReport report =
                run(
                        Phase.read("idle")
                                .timeLimit(Duration.ofNanos(20 * PACE))
                                .pace(Duration.ofNanos(HOUR))
                                .build());

        assertThat(report.operations()).isEqualTo(1);
        assertThat(report.duration().toNanos()).isBetween(20 * PACE, HOUR / 60);
    }

    @Test
    void shouldBeAbortedWhileItRests() {
        try (Pipeline pipeline = new Pipeline(folder, TimeUnit.SECONDS.toNanos(20))) {
            pipeline.listener(
                    new InitiatorListener() {
                        @Override
                        public void phaseStarted(Phase phase) {
                            pipeline.target().abort("enough");
                        }

                        @Override
                        public void phaseProgress(
                                Phase phase, long operations, long bytes, Duration elapsed) {}

                        @Override
                        public void phaseFinished(PhaseReport report) {}
                    });
            StorageInitiator initiator =
                    pipeline.start(
                            VOLUME_BYTES,
                            workload(
                                    Phase.read("idle")
                                            .timeLimit(Duration.ofNanos(HOUR))
                                            .pace(Duration.ofNanos(HOUR))
                                            .build()));

            DpuException end = catchThrowableOfType(DpuException.class, initiator::run);

            assertThat(end.status()).isEqualTo(Status.CONNECTION_ABORTED);
            assertThat(end).hasMessageContaining("enough");
        }
    }

    @Test
    void shouldRefuseAPaceThatIsNone() {
        assertThatThrownBy(() -> Phase.read("backwards").pace(Duration.ofNanos(-1)).build())
                .isInstanceOf(DpuException.class)
                .hasMessageContaining("paceNanos");
    }

    private PhaseReport run(Phase phase) {
        try (Pipeline pipeline = new Pipeline(folder, TimeUnit.SECONDS.toNanos(20))) {
            StorageInitiator initiator = pipeline.start(VOLUME_BYTES, workload(phase));
            initiator.run();
            return initiator.initiatorReport().phases().getFirst();
        }
    }

    private static Workload workload(Phase phase) {
        return new Workload(List.of(phase));
    }
}
