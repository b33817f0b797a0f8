package io.softdpu.benchmarks;

import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyTask;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.graph.Graph;
import io.softdpu.core.graph.GraphInstance;
import io.softdpu.core.graph.GraphNode;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Two copies of 64 bytes and a callback after both: by hand, with callbacks of tasks that count,
 * and as a graph, on an engine and on a work queue; one at a time, and ten in flight.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class GraphBenchmark {
    private static final int BYTES = 64;
    private static final int INSTANCES = 10;
    private static final int COPIES = 2 * INSTANCES;

    /** Copies by hand, on the engine's graph, on the queue's. */
    private static final int WAYS = 3;

    private final Folder folder = Folder.make();
    private final SharedMemory memory = SharedMemory.allocate(2L * WAYS * COPIES * BYTES);
    private final Mmap mmap = Mmap.create();
    private final BufInventory inventory = BufInventory.create(2 * WAYS * COPIES);
    private final List<Buf> bufs = new ArrayList<>();
    private final Buf[][] destinations = new Buf[WAYS][COPIES];
    private final DmaMemcpyTask[] tasks = new DmaMemcpyTask[COPIES];
    private final DmaMemcpyTask[] nodeTasks = new DmaMemcpyTask[COPIES];
    private final GraphInstance[] instances = new GraphInstance[INSTANCES];
    private final GraphInstance[] queueInstances = new GraphInstance[INSTANCES];
    private final int[] left = new int[INSTANCES];
    private final JobEvent event = JobEvent.create();
    private Machine machine;
    private Device device;
    private ProgressEngine engine;
    private Dma dma;
    private Dma jobs;
    private WorkQueue queue;
    private Graph graph;
    private Graph queueGraph;
    private int checked;
    private int completed;

    @Setup
    public void setUp() {
        machine = Machine.builder(Side.DPU).fabricFolder(folder.path()).open();
        device = machine.findDevice("p0").open();
        mmap.setMemory(memory)
                .setPermissions(Permissions.LOCAL_READ_WRITE)
                .addDevice(device)
                .start();
        inventory.start();
        engine = ProgressEngine.create();
        dma = Dma.create(device);
        dma.setMemcpyTasks(2 * COPIES, this::copied, GraphBenchmark::failed);
        engine.connect(dma);
        dma.start();
        jobs = Dma.create(device);
        jobs.start();
        queue = WorkQueue.create(COPIES + INSTANCES);
        queue.add(jobs);
        for (int i = 0; i < COPIES; i++) {
            tasks[i] = dma.allocateMemcpy(source(0, i), destination(0, i));
            tasks[i].setUserData(i / 2);
            nodeTasks[i] = dma.allocateMemcpy(source(1, i), destination(1, i));
        }
        setUpGraph();
        setUpQueueGraph();
    }

    private Buf source(int way, int copy) {
        Buf buf = inventory.bufByData(mmap, 2L * (way * COPIES + copy) * BYTES, BYTES);
        bufs.add(buf);
        return buf;
    }

    private Buf destination(int way, int copy) {
        Buf buf = inventory.bufByAddress(mmap, (2L * (way * COPIES + copy) + 1) * BYTES, BYTES);
        bufs.add(buf);
        destinations[way][copy] = buf;
        return buf;
    }

    private void setUpGraph() {
        graph = Graph.create(engine);
        GraphNode one = graph.addContextNode(dma);
        GraphNode two = graph.addContextNode(dma);
        GraphNode check = graph.addUserNode(_ -> check());
        graph.addDependency(one, check).addDependency(two, check);
        graph.setCallbacks(_ -> completed++, GraphBenchmark::failed).start();
        for (int i = 0; i < INSTANCES; i++) {
            instances[i] =
                    graph.createInstance()
                            .setTask(one, nodeTasks[2 * i])
                            .setTask(two, nodeTasks[2 * i + 1]);
        }
    }

    private void setUpQueueGraph() {
        queueGraph = Graph.create();
        GraphNode one = queueGraph.addContextNode(jobs, Dma.MEMCPY_JOB);
        GraphNode two = queueGraph.addContextNode(jobs, Dma.MEMCPY_JOB);
        GraphNode check = queueGraph.addUserNode(_ -> check());
        queueGraph.addDependency(one, check).addDependency(two, check);
        queueGraph.start().addTo(queue);
        for (int i = 0; i < INSTANCES; i++) {
            int copy = 2 * i;
            queueInstances[i] =
                    queueGraph
                            .createInstance()
                            .setJob(
                                    one,
                                    jobs.createMemcpyJob(source(2, copy), destination(2, copy)))
                            .setJob(
                                    two,
                                    jobs.createMemcpyJob(
                                            source(2, copy + 1), destination(2, copy + 1)));
        }
    }

    /** The work of the user node: the same in all ways. */
    private Status check() {
        checked++;
        return Status.SUCCESS;
    }

    private void copied(DmaMemcpyTask task) {
        int instance = (int) task.userData();
        if (--left[instance] == 0 && check() == Status.SUCCESS) {
            completed++;
        }
    }

    private static void failed(DmaMemcpyTask task) {
        throw new IllegalStateException("task has failed: status=" + task.status());
    }

    private static void failed(GraphInstance instance) {
        throw new IllegalStateException("instance has failed", instance.failure());
    }

    private void reset(int way, int copies) {
        for (int i = 0; i < copies; i++) {
            destinations[way][i].resetDataLength();
        }
    }

    @TearDown
    public void tearDown() throws IOException {
        for (int i = 0; i < INSTANCES; i++) {
            instances[i].close();
            queueInstances[i].close();
        }
        graph.close();
        queue.close();
        queueGraph.close();
        jobs.close();
        for (int i = 0; i < COPIES; i++) {
            tasks[i].free();
            nodeTasks[i].free();
        }
        bufs.forEach(Buf::release);
        dma.close();
        engine.close();
        inventory.close();
        mmap.close();
        memory.close();
        device.close();
        machine.close();
        folder.close();
    }

    private int byHand(int instanceCount) {
        completed = 0;
        for (int i = 0; i < instanceCount; i++) {
            left[i] = 2;
            tasks[2 * i].submit();
            tasks[2 * i + 1].submit();
        }
        while (completed < instanceCount) {
            engine.progress();
        }
        reset(0, 2 * instanceCount);
        return checked;
    }

    private int onEngine(int instanceCount) {
        completed = 0;
        for (int i = 0; i < instanceCount; i++) {
            instances[i].submit();
        }
        while (completed < instanceCount) {
            engine.progress();
        }
        reset(1, 2 * instanceCount);
        return checked;
    }

    private int onQueue(int instanceCount) {
        for (int i = 0; i < instanceCount; i++) {
            queueInstances[i].submit(queue);
        }
        int ended = 0;
        while (ended < instanceCount) {
            if (queue.progressRetrieve(event) == Status.SUCCESS) {
                ended++;
            }
        }
        reset(2, 2 * instanceCount);
        return checked;
    }

    /** What a graph is measured against. */
    @Benchmark
    public int callbacksByHand() {
        return byHand(1);
    }

    /** An instance on the engine. */
    @Benchmark
    public int graphOnEngine() {
        return onEngine(1);
    }

    /** An instance on the work queue: a retrieval per node, and one for the instance. */
    @Benchmark
    public int graphOnQueue() {
        return onQueue(1);
    }

    /** Ten by hand. */
    @Benchmark
    @OperationsPerInvocation(INSTANCES)
    public int callbacksByHandOfTen() {
        return byHand(INSTANCES);
    }

    /** Ten instances on the engine. */
    @Benchmark
    @OperationsPerInvocation(INSTANCES)
    public int tenGraphsOnEngine() {
        return onEngine(INSTANCES);
    }

    /** Ten instances on the work queue. */
    @Benchmark
    @OperationsPerInvocation(INSTANCES)
    public int tenGraphsOnQueue() {
        return onQueue(INSTANCES);
    }
}
