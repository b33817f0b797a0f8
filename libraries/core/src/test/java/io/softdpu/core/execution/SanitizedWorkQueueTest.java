package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.TinyJobs.TinyJob;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Effects of the sanitizer on jobs. */
class SanitizedWorkQueueTest {
    private static final int JOBS = 12;
    private static final int SEEDS = 40;
    private static final int MAX_TRIES = 10_000;
    private static final List<Long> IN_ORDER =
            IntStream.range(0, JOBS).mapToObj(i -> (long) i).toList();

    @TempDir Path folder;
    private Machines machines;
    private TinyJobs context;
    private final JobEvent event = JobEvent.create();
    private int refused;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        Device device = machines.device(Side.HOST, "pf0");
        context = machines.add(new TinyJobs("tiny", device));
        context.start();
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private void submit(WorkQueue queue, TinyJob job) {
        for (int i = 0; i < MAX_TRIES; i++) {
            Status submitted = queue.trySubmit(job);
            if (submitted == Status.SUCCESS) {
                return;
            }
            assertThat(submitted).isEqualTo(Status.AGAIN);
            refused++;
        }
        throw new AssertionError("was never taken");
    }

    private List<Long> order(long seed, boolean eventDriven) {
        List<Long> order = new ArrayList<>();
        try (Sanitizer sanitizer = Sanitizer.start(seed);
                WorkQueue queue = WorkQueue.create(JOBS)) {
            queue.setEventDriven(eventDriven);
            queue.add(context);
            for (int i = 0; i < JOBS; i++) {
                TinyJob job = context.job();
                job.atOnce = true;
                job.setUserData(i);
                submit(queue, job);
            }
            for (int i = 0; order.size() < JOBS && i < MAX_TRIES; i++) {
                if (eventDriven) {
                    queue.armEvent();
                    assertThat(queue.awaitEvent(Patience.LIMIT)).isTrue();
                    queue.clearEvent();
                }
                Status retrieved = queue.progressRetrieve(event);
                if (retrieved == Status.SUCCESS) {
                    order.add(event.userData());
                } else {
                    assertThat(retrieved).isEqualTo(Status.AGAIN);
                }
            }
            assertThat(queue.progressRetrieve(event)).isEqualTo(Status.AGAIN);
            assertThat(sanitizer.reports()).isZero();
        }
        assertThat(order).containsExactlyInAnyOrderElementsOf(IN_ORDER);
        return order;
    }

    @Test
    @Clause("core-140")
    void shouldShowAProgramThatReliesOnTheOrderOfItsJobs() {
        for (long seed = 0; seed < SEEDS; seed++) {
            assertThat(order(seed, false)).as("seed %d", seed).isNotEqualTo(IN_ORDER);
        }
        assertThat(refused).as("submissions answered with AGAIN").isPositive();
        assertThat(order(3, false)).isEqualTo(order(3, false)).isNotEqualTo(order(4, false));
    }

    @Test
    void shouldLoseNoSignal() {
        for (long seed = 0; seed < SEEDS; seed++) {
            assertThat(order(seed, true)).hasSize(JOBS);
        }
    }

    @Test
    void shouldReportAJobThatIsSubmittedInFlight() {
        List<SanitizerReport> reports = new ArrayList<>();
        try (Sanitizer sanitizer = Sanitizer.start(1);
                WorkQueue queue = WorkQueue.create(2)) {
            sanitizer.setListener(reports::add);
            queue.add(context);
            TinyJob job = context.job();
            queue.submit(job);
            assertThat(queue.trySubmit(job)).isEqualTo(Status.IN_USE);
            for (int i = 0; queue.inFlightJobs() > 0 && i < MAX_TRIES; i++) {
                queue.progressRetrieve(event);
            }
        }
        assertThat(reports)
                .singleElement()
                .satisfies(report -> {
                    assertThat(report.kind()).isEqualTo(SanitizerReport.Kind.TASK_MISUSED);
                    assertThat(report.message())
                            .isEqualTo(
                                    "job was submitted in flight: type=tiny count, context="
                                            + context);
                    assertThat(report.seed()).isEqualTo(1);
                });
    }
}
