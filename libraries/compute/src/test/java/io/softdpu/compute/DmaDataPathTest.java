package io.softdpu.compute;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.testkit.Clause;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the data path costs beside the copy: no objects, and no lost wake. */
class DmaDataPathTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int ROUNDS = 50_000;

    /**
     * What the measurement itself and a late compilation may leave; a round would leave 16 each.
     */
    private static final long NOISE_BYTES = 4096;

    @TempDir Path folder;
    private Desk desk;
    private Mmap memory;
    private int completed;

    @BeforeEach
    void open() {
        desk = new Desk(folder, Side.DPU, "p0");
        memory = desk.local(64 << 10);
    }

    @AfterEach
    void close() throws Exception {
        desk.close();
    }

    private void assertAllocatesNothing(Runnable round) {
        for (int i = 0; i < ROUNDS; i++) {
            round.run();
        }
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < ROUNDS; i++) {
            round.run();
        }
        long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
        assertThat(allocated).as("bytes in %d rounds", ROUNDS).isLessThan(NOISE_BYTES);
    }

    private void startCounting(int tasks) {
        desk.dma.configureMemcpyTasks(
                tasks,
                _ -> completed++,
                task -> {
                    throw new AssertionError("failed: " + task.status());
                });
        desk.dma.start();
    }

    @Test
    @Clause("core-003")
    void shouldCopyBetweenBufsAndListsWithoutAllocation() {
        startCounting(2);
        Buf source = desk.source(memory, 0, 64);
        Buf destination = desk.destination(memory, 1000, 64);
        Buf list = desk.source(memory, 2000, 10);
        list.chain(desk.source(memory, 3000, 5000));
        Buf scattered = desk.destination(memory, 10_000, 3000);
        scattered.chain(desk.destination(memory, 20_000, 3000));
        DmaMemcpyTask single = desk.dma.allocateMemcpy(source, destination);
        DmaMemcpyTask chained = desk.dma.allocateMemcpy(list, scattered);
        Buf tail = scattered.nextInList();
        assertAllocatesNothing(() -> {
            single.submit();
            chained.submit();
            while (desk.dma.inFlightTasks() > 0) {
                desk.engine.progress();
            }
            destination.resetDataLength();
            scattered.resetDataLength();
            tail.resetDataLength();
        });
        assertThat(completed).isEqualTo(4 * ROUNDS);
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
        Dma dma = desk.add(Dma.create(desk.device));
        dma.start();
        try (WorkQueue queue = WorkQueue.create(2)) {
            queue.add(dma);
            Buf source = desk.source(memory, 0, 64);
            Buf destination = desk.destination(memory, 1000, 64);
            DmaMemcpyJob job = dma.createMemcpyJob(source, destination);
            JobEvent event = JobEvent.create();
            assertAllocatesNothing(() -> {
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
    @Clause("core-136")
    void shouldRingWhereATaskIsSubmittedAfterArming() {
        startCounting(1);
        while (desk.engine.progress()) {
            assertThat(completed).isZero(); // what the start has left is seen to
        }
        Buf source = desk.source(memory, 0, 64);
        Buf destination = desk.destination(memory, 1000, 64);
        DmaMemcpyTask task = desk.dma.allocateMemcpy(source, destination);
        desk.engine.requestNotification();
        assertThat(desk.engine.awaitNotification(0)).as("nothing to do yet").isFalse();
        task.submit();
        assertThat(desk.engine.awaitNotification(Desk.DEADLINE_NANOS)).isTrue();
        desk.engine.clearNotification();
        assertThat(desk.engine.progress()).isTrue();
        assertThat(completed).isOne();
        task.free();
        source.release();
        destination.release();
    }

    @Test
    void shouldRingWhereATaskIsThereAlready() {
        startCounting(1);
        DmaMemcpyTask task =
                desk.submit(desk.source(memory, 0, 64), desk.destination(memory, 1000, 64));
        desk.engine.requestNotification();
        assertThat(desk.engine.awaitNotification(Desk.DEADLINE_NANOS)).isTrue();
        desk.engine.clearNotification();
        desk.awaitEnd();
        assertThat(completed).isOne();
        task.source().release();
        task.destination().release();
        task.free();
        assertThat(desk.dma.state()).isEqualTo(ContextState.RUNNING);
    }
}
