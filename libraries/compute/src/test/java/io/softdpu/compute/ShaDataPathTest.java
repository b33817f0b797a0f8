package io.softdpu.compute;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.testkit.AllocationMeter;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Cost of the data path besides the hash: no allocation, and no lost wake-up. */
@SoftDpuTest(sanitized = false)
class ShaDataPathTest {
    private static final int ROUNDS = 1_000;

    private ShaFixture fixture;
    private Mmap memory;
    private Buf source;
    private Buf destination;
    private int completed;

    @BeforeEach
    void open(SoftDpu card) {
        fixture = new ShaFixture(card.dpuDevice());
        memory = fixture.base.local(64 << 10);
        source = fixture.base.source(memory, 0, 20_000);
        source.chain(fixture.base.source(memory, 30_000, 5_600));
        destination = fixture.base.destination(memory, 40_000, 10);
        destination.chain(fixture.base.destination(memory, 50_000, 100));
    }

    @AfterEach
    void close() throws Exception {
        source.release();
        destination.release();
        fixture.close();
    }

    private void resetDestination() {
        destination.resetDataLength();
        destination.lastInList().resetDataLength();
    }

    private void awaitEnd() {
        while (fixture.sha.inFlightTasks() > 0) {
            fixture.engine.progress();
        }
    }

    @Test
    @Clause("core-003")
    void shouldHashByTasksWithoutAllocation() {
        ShaAlgorithm[] algorithms = ShaAlgorithm.values();
        fixture.sha.setHashTasks(1, _ -> completed++, _ -> {});
        fixture.sha.setPartialHashTasks(1, _ -> completed++, _ -> {});
        fixture.sha.start();
        ShaHashTask whole = fixture.sha.allocateHash(algorithms[0], source, destination);
        ShaPartialHashTask parts =
                fixture.sha.allocatePartialHash(algorithms[0], source, destination);
        int[] round = {0};
        AllocationMeter.assertNone(
                ROUNDS,
                () -> {
                    ShaAlgorithm algorithm = algorithms[round[0]++ % algorithms.length];
                    whole.setAlgorithm(algorithm).submit();
                    awaitEnd();
                    resetDestination();
                    parts.setAlgorithm(algorithm).submit();
                    awaitEnd();
                    parts.setFinal(true).submit();
                    awaitEnd();
                    parts.reset();
                    resetDestination();
                });
        assertThat(completed).isGreaterThanOrEqualTo(6 * ROUNDS);
        whole.free();
        parts.free();
    }

    @Test
    @Clause("core-003")
    void shouldHashByJobsWithoutAllocation() {
        Sha sha = fixture.base.add(Sha.create(fixture.base.device));
        sha.start();
        try (WorkQueue queue = WorkQueue.create(2)) {
            queue.add(sha);
            ShaHashJob whole = sha.createHashJob(ShaAlgorithm.SHA256, source, destination);
            ShaSession session = sha.createSession(ShaAlgorithm.SHA512);
            ShaPartialHashJob part = sha.createPartialHashJob(session, source, destination);
            JobEvent event = JobEvent.create();
            AllocationMeter.assertNone(
                    ROUNDS,
                    () -> {
                        queue.submit(whole);
                        awaitJob(queue, event);
                        resetDestination();
                        queue.submit(part.setFinal(false));
                        awaitJob(queue, event);
                        queue.submit(part.setFinal(true));
                        awaitJob(queue, event);
                        resetDestination();
                    });
            queue.remove(sha);
        }
        sha.stop();
    }

    private static void awaitJob(WorkQueue queue, JobEvent event) {
        while (queue.progressRetrieve(event) != Status.SUCCESS) {
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldRingWhereATaskIsSubmittedAfterArming() {
        fixture.start(1);
        while (fixture.engine.progress()) {
            assertThat(fixture.ended).isEmpty(); // what the start has left is seen to
        }
        ShaHashTask task = fixture.sha.allocateHash(ShaAlgorithm.SHA256, source, destination);
        fixture.engine.requestNotification();
        assertThat(fixture.engine.awaitNotification(Duration.ZERO)).as("nothing yet").isFalse();
        task.submit();
        assertThat(fixture.engine.awaitNotification(Patience.LIMIT)).isTrue();
        fixture.engine.clearNotification();
        fixture.awaitEnd();
        assertThat(fixture.ended).containsExactly(Status.SUCCESS);
        task.free();
    }
}
