package io.softdpu.benchmarks;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventAddTask;
import io.softdpu.core.sync.SyncEventContext;
import io.softdpu.core.sync.SyncEventLocation;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * An addition to a sync event and a look at its value, in one process: bare on shared memory, in
 * synchronous mode, and as a task.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class SyncEventBenchmark {
    private static final VarHandle VALUE = ValueLayout.JAVA_LONG.varHandle();

    private final Folder folder = Folder.make();
    private final SharedMemory memory = SharedMemory.allocate(Long.BYTES);
    private final MemorySegment bytes = memory.segment();
    private Machine machine;
    private Device device;
    private SyncEvent event;
    private SyncEvent asynchronous;
    private ProgressEngine engine;
    private SyncEventContext context;
    private SyncEventAddTask task;
    private boolean completed;

    @Setup
    public void setUp() {
        machine = Machine.builder(Side.HOST).fabricFolder(folder.path()).open();
        device = machine.findDevice("pf0").open();
        event = configured().start();
        asynchronous = configured();
        context = asynchronous.asContext();
        context.setAddTasks(1, _ -> completed = true, SyncEventBenchmark::failed);
        engine = ProgressEngine.create();
        engine.connect(context);
        context.start();
        task = context.allocateAdd(1);
    }

    private SyncEvent configured() {
        return SyncEvent.create(device)
                .addPublisherLocation(SyncEventLocation.CPU)
                .addSubscriberLocation(SyncEventLocation.DPU);
    }

    private static void failed(SyncEventAddTask task) {
        throw new IllegalStateException("addition has failed: status=" + task.status());
    }

    @TearDown
    public void tearDown() throws Exception {
        task.free();
        context.stop();
        engine.progress();
        asynchronous.close();
        engine.close();
        event.stop();
        event.close();
        device.close();
        machine.close();
        memory.close();
        folder.close();
    }

    /** Bare, as a program on shared memory would do it: {@code getAndAdd} and a volatile load. */
    @Benchmark
    public long bare() {
        VALUE.getAndAdd(bytes, 0L, 1L);
        return (long) VALUE.getVolatile(bytes, 0L);
    }

    /** In synchronous mode. */
    @Benchmark
    public long addAndGet() {
        event.add(1);
        return event.get();
    }

    /** The addition alone, as a task. */
    @Benchmark
    public long addTask() {
        completed = false;
        task.submit();
        while (!completed) {
            engine.progress();
        }
        return task.previous();
    }
}
