package io.softdpu.compute;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
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

/** Cost of the data path besides the copy: no allocation, and no lost wake-up. */
@SoftDpuTest(sanitized = false)
class DmaDataPathTest {
    private static final int ROUNDS = 50_000;

    private DmaFixture fixture;
    private Mmap memory;
    private int completed;

    @BeforeEach
    void open(SoftDpu card) {
        fixture = new DmaFixture(card.dpuDevice());
        memory = fixture.local(64 << 10);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private void startCounting(int tasks) {
        fixture.dma.setMemcpyTasks(
                tasks,
                _ -> completed++,
                task -> {
                    throw new AssertionError("failed: " + task.status());
                });
        fixture.dma.start();
    }

    @Test
    @Clause("core-003")
    void shouldCopyBetweenBufsAndListsWithoutAllocation() {
        startCounting(2);
        Buf source = fixture.source(memory, 0, 64);
        Buf destination = fixture.destination(memory, 1000, 64);
        Buf list = fixture.source(memory, 2000, 10);
        list.chain(fixture.source(memory, 3000, 5000));
        Buf scattered = fixture.destination(memory, 10_000, 3000);
        scattered.chain(fixture.destination(memory, 20_000, 3000));
        DmaMemcpyTask single = fixture.dma.allocateMemcpy(source, destination);
        DmaMemcpyTask chained = fixture.dma.allocateMemcpy(list, scattered);
        Buf tail = scattered.nextInList();
        AllocationMeter.assertNone(
                ROUNDS,
                () -> {
                    single.submit();
                    chained.submit();
                    while (fixture.dma.inFlightTasks() > 0) {
                        fixture.engine.progress();
                    }
                    destination.resetDataLength();
                    scattered.resetDataLength();
                    tail.resetDataLength();
                });
        assertThat(completed).isGreaterThanOrEqualTo(4 * ROUNDS);
        single.free();
        chained.free();
        source.release();
        destination.release();
        list.release();
        scattered.release();
    }

    @Test
    @Clause("core-003")
    void shouldRunAJobWithoutAllocation() {
        Dma dma = fixture.add(Dma.create(fixture.device));
        dma.start();
        try (WorkQueue queue = WorkQueue.create(2)) {
            queue.add(dma);
            Buf source = fixture.source(memory, 0, 64);
            Buf destination = fixture.destination(memory, 1000, 64);
            DmaMemcpyJob job = dma.createMemcpyJob(source, destination);
            JobEvent event = JobEvent.create();
            AllocationMeter.assertNone(
                    ROUNDS,
                    () -> {
                        queue.submit(job);
                        while (queue.progressRetrieve(event) != Status.SUCCESS) {
                            Thread.onSpinWait();
                        }
                        destination.resetDataLength();
                    });
            source.release();
            destination.release();
        }
        dma.stop();
    }

    @Test
    void shouldRingWhereATaskIsSubmittedAfterArming() {
        startCounting(1);
        while (fixture.engine.progress()) {
            assertThat(completed).isZero(); // what the start has left is seen to
        }
        Buf source = fixture.source(memory, 0, 64);
        Buf destination = fixture.destination(memory, 1000, 64);
        DmaMemcpyTask task = fixture.dma.allocateMemcpy(source, destination);
        fixture.engine.requestNotification();
        assertThat(fixture.engine.awaitNotification(Duration.ZERO))
                .as("nothing to do yet")
                .isFalse();
        task.submit();
        assertThat(fixture.engine.awaitNotification(Patience.LIMIT)).isTrue();
        fixture.engine.clearNotification();
        assertThat(fixture.engine.progress()).isTrue();
        assertThat(completed).isOne();
        task.free();
        source.release();
        destination.release();
    }

    @Test
    void shouldRingWhereATaskIsThereAlready() {
        startCounting(1);
        DmaMemcpyTask task =
                fixture.submit(
                        fixture.source(memory, 0, 64), fixture.destination(memory, 1000, 64));
        fixture.engine.requestNotification();
        assertThat(fixture.engine.awaitNotification(Patience.LIMIT)).isTrue();
        fixture.engine.clearNotification();
        fixture.awaitEnd();
        assertThat(completed).isOne();
        task.source().release();
        task.destination().release();
        task.free();
        assertThat(fixture.dma.state()).isEqualTo(ContextState.RUNNING);
    }
}
