package io.softdpu.benchmarks;

import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyJob;
import io.softdpu.compute.DmaMemcpyTask;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
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

/** A copy of 64 bytes: bare, as a DMA task, and as a job on a work queue. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class DmaBenchmark {
    private static final int BYTES = 64;
    private static final int TASKS = 32;
    private static final int MEMORY_BYTES = 1 << 20;

    private final Folder folder = Folder.make();
    private final SharedMemory memory = SharedMemory.allocate(MEMORY_BYTES);
    private final Mmap mmap = Mmap.create();
    private final BufInventory inventory = BufInventory.create(2 * TASKS + 2);
    private final Buf[] destinations = new Buf[TASKS];
    private final DmaMemcpyTask[] tasks = new DmaMemcpyTask[TASKS];
    private final JobEvent event = JobEvent.create();
    private final MemorySegment bytes = memory.segment();
    private Machine machine;
    private Device device;
    private ProgressEngine engine;
    private Dma dma;
    private Dma jobs;
    private WorkQueue queue;
    private Buf jobSource;
    private Buf jobDestination;
    private DmaMemcpyJob job;
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
        dma.setMemcpyTasks(TASKS, _ -> completed++, DmaBenchmark::failed);
        engine.connect(dma);
        dma.start();
        for (int i = 0; i < TASKS; i++) {
            destinations[i] = inventory.bufByAddress(mmap, (2L * i + 1) * BYTES, BYTES);
            Buf source = inventory.bufByData(mmap, 2L * i * BYTES, BYTES);
            tasks[i] = dma.allocateMemcpy(source, destinations[i]);
        }
        jobs = Dma.create(device);
        jobs.start();
        queue = WorkQueue.create(1);
        queue.add(jobs);
        jobSource = inventory.bufByData(mmap, 4L * TASKS * BYTES, BYTES);
        jobDestination = inventory.bufByAddress(mmap, (4L * TASKS + 1) * BYTES, BYTES);
        job = jobs.createMemcpyJob(jobSource, jobDestination);
    }

    private static void failed(DmaMemcpyTask task) {
        throw new IllegalStateException("task has failed: status=" + task.status());
    }

    @TearDown
    public void tearDown() throws IOException {
        queue.close();
        jobs.close();
        for (DmaMemcpyTask task : tasks) {
            Buf source = task.source();
            task.free();
            source.release();
        }
        for (Buf destination : destinations) {
            destination.release();
        }
        jobSource.release();
        jobDestination.release();
        dma.close();
        engine.close();
        inventory.close();
        mmap.close();
        memory.close();
        device.close();
        machine.close();
        folder.close();
    }

    /** What all of this is measured against. */
    @Benchmark
    public void rawCopy() {
        MemorySegment.copy(bytes, 0, bytes, BYTES, BYTES);
    }

    /** One is submitted, and progress completes it. */
    @Benchmark
    public int submitAndProgress() {
        tasks[0].submit();
        engine.progress();
        destinations[0].resetDataLength();
        return completed;
    }

    /** 32 are submitted, and one progress completes them: a task each. */
    @Benchmark
    @OperationsPerInvocation(TASKS)
    public int submitManyAndProgress() {
        for (int i = 0; i < TASKS; i++) {
            tasks[i].submit();
        }
        engine.progress();
        for (int i = 0; i < TASKS; i++) {
            destinations[i].resetDataLength();
        }
        return completed;
    }

    /** The same, submitted together. */
    @Benchmark
    @OperationsPerInvocation(TASKS)
    public int submitAllAndProgress() {
        if (dma.trySubmitAll(tasks, 0, TASKS) != TASKS) {
            throw new IllegalStateException("not submitted: status=" + tasks[0].trySubmit());
        }
        engine.progress();
        for (int i = 0; i < TASKS; i++) {
            destinations[i].resetDataLength();
        }
        return completed;
    }

    /** One as a job: submitted to a work queue, and retrieved. */
    @Benchmark
    public Status submitAndRetrieve() {
        queue.submit(job);
        Status status = queue.progressRetrieve(event);
        if (status != Status.SUCCESS) {
            throw new IllegalStateException("job has not ended: status=" + status);
        }
        jobDestination.resetDataLength();
        return status;
    }
}
