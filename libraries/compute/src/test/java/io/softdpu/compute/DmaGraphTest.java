package io.softdpu.compute;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.JobType;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.graph.Graph;
import io.softdpu.core.graph.GraphInstance;
import io.softdpu.core.graph.GraphNode;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Copies in graphs. */
class DmaGraphTest {
    private static final int BYTES = 3 << 20; // a dozen slices

    @TempDir Path folder;
    private Machine machine;
    private Device device;
    private DmaFixture fixture;
    private byte[] source;
    private byte[] middle;
    private byte[] end;
    private Buf from;
    private Buf through;
    private Buf onward;
    private Buf to;

    @BeforeEach
    void open(SeededRandom random) {
        machine = Machine.builder(Side.DPU).fabricFolder(folder.resolve("fabric")).open();
        device = machine.findDevice("p0").open();
        fixture = new DmaFixture(device);
        source = random.bytes(BYTES);
        middle = new byte[BYTES];
        end = new byte[BYTES];
        Mmap first = fixture.over(MemorySegment.ofArray(source));
        Mmap second = fixture.over(MemorySegment.ofArray(middle));
        Mmap third = fixture.over(MemorySegment.ofArray(end));
        from = fixture.source(first, 0, BYTES);
        through = fixture.destination(second, 0, BYTES);
        onward = fixture.source(second, 0, BYTES);
        to = fixture.destination(third, 0, BYTES);
    }

    @AfterEach
    void close() throws Exception {
        from.release();
        through.release();
        onward.release();
        to.release();
        fixture.close();
        device.close();
        machine.close();
    }

    @Test
    @Clause({"core-227", "core-234"})
    void shouldCopyWhatTheJobBeforeHasCopied() {
        try (Dma dma = Dma.create(device)) {
            dma.start();
            try (Graph graph = Graph.create();
                    WorkQueue queue = WorkQueue.create(3)) {
                queue.add(dma);
                GraphNode copy = graph.addContextNode(dma, Dma.MEMCPY_JOB);
                GraphNode again = graph.addContextNode(dma, Dma.MEMCPY_JOB);
                graph.addDependency(copy, again).start().addTo(queue);
                try (GraphInstance instance =
                        graph.createInstance()
                                .setJob(copy, dma.createMemcpyJob(from, through))
                                .setJob(again, dma.createMemcpyJob(onward, to))) {
                    instance.submit(queue);
                    JobEvent event = JobEvent.create();
                    long begin = System.nanoTime();
                    while (queue.progressRetrieve(event) == Status.AGAIN) {
                        assertThat(System.nanoTime() - begin)
                                .isLessThan(Patience.DEADLINE.toNanos());
                    }
                    assertThat(event.type()).isEqualTo(JobType.GRAPH_JOB);
                    assertThat(event.result()).isZero();
                }
                graph.removeFrom(queue);
            }
        }
        assertThat(end).isEqualTo(source);
        assertThat(to.dataLength()).isEqualTo(BYTES);
    }

    @Test
    void shouldCopyWhatTheTaskBeforeHasCopied() {
        fixture.start(2);
        try (Graph graph = Graph.create(fixture.engine)) {
            GraphNode copy = graph.addContextNode(fixture.dma);
            GraphNode again = graph.addContextNode(fixture.dma);
            graph.addDependency(copy, again).start();
            DmaMemcpyTask first = fixture.dma.allocateMemcpy(from, through);
            DmaMemcpyTask second = fixture.dma.allocateMemcpy(onward, to);
            GraphInstance instance =
                    graph.createInstance().setTask(copy, first).setTask(again, second);
            instance.submit();
            awaitEnd(instance);
            assertThat(instance.status()).isEqualTo(Status.SUCCESS);
            assertThat(fixture.ended).as("callbacks of tasks").isEmpty();
            instance.close();
            first.free();
            second.free();
        }
        assertThat(end).isEqualTo(source);
    }

    @Test
    void shouldFailWhenItsContextStops() {
        fixture.start(2);
        try (Graph graph = Graph.create(fixture.engine)) {
            GraphNode copy = graph.addContextNode(fixture.dma);
            GraphNode again = graph.addContextNode(fixture.dma);
            graph.addDependency(copy, again).start();
            DmaMemcpyTask first = fixture.dma.allocateMemcpy(from, through);
            DmaMemcpyTask second = fixture.dma.allocateMemcpy(onward, to);
            GraphInstance instance =
                    graph.createInstance().setTask(copy, first).setTask(again, second);
            instance.submit();
            fixture.dma.stop();
            awaitEnd(instance);
            assertThat(instance.status()).isEqualTo(Status.SHUTDOWN);
            assertThat(instance.status(again)).isEqualTo(Status.SKIPPED);
            instance.close();
            first.free();
            second.free();
        }
        fixture.awaitState(fixture.dma, ContextState.IDLE);
        assertThat(to.dataLength()).isZero();
    }

    private void awaitEnd(GraphInstance instance) {
        long begin = System.nanoTime();
        while (instance.isInFlight()) {
            fixture.engine.progress();
            assertThat(System.nanoTime() - begin).isLessThan(Patience.DEADLINE.toNanos());
        }
    }

    /** The memory of the second copy is gone when its node starts. */
    @Test
    void shouldNameTheFailureOfTheContextThatAFailedTaskHasStopped() {
        ProgressEngine engine = ProgressEngine.create();
        Dma dma = Dma.create(device);
        dma.setMemcpyTasks(1, _ -> {}, _ -> {});
        engine.start(dma, Patience.LIMIT);
        Mmap gone = fixture.local(BYTES);
        Buf into = fixture.destination(gone, 0, BYTES);
        DmaMemcpyTask task = dma.allocateMemcpy(from, into);
        try (Graph graph = Graph.create(engine)) {
            GraphNode copy = graph.addContextNode(dma);
            graph.start();
            try (GraphInstance instance = graph.createInstance().setTask(copy, task)) {
                instance.submit();
                assertThat(engine.progress()).as("a slice").isTrue();
                assertThat(instance.isInFlight()).isTrue();
                gone.stop();
                engine.runUntil(() -> !instance.isInFlight(), Patience.LIMIT);
                assertThat(instance.failure()).hasMessageContaining("node has failed");
                assertThat(instance.failure().getCause())
                        .isNotNull()
                        .isSameAs(dma.failure())
                        .hasMessageContaining("destination");
            }
        }
        task.free();
        into.release();
        dma.close();
        engine.close();
    }
}
