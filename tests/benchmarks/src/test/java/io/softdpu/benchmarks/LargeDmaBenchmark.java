package io.softdpu.benchmarks;

import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyTask;
import io.softdpu.core.Side;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
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

/** A copy of 1 GiB in slices: by DMA, and by C's memcpy beside it. Needs 2 GiB of memory. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class LargeDmaBenchmark {
    private static final long BYTES = 1L << 30;

    private static final MethodHandle MEMCPY =
            Linker.nativeLinker()
                    .downcallHandle(
                            Linker.nativeLinker().defaultLookup().find("memcpy").orElseThrow(),
                            FunctionDescriptor.ofVoid(
                                    ValueLayout.JAVA_LONG,
                                    ValueLayout.JAVA_LONG,
                                    ValueLayout.JAVA_LONG));

    private final Folder folder = Folder.make();
    private final SharedMemory memory = SharedMemory.allocate(2 * BYTES);
    private final Mmap mmap = Mmap.create();
    private final BufInventory inventory = BufInventory.create(2);
    private Machine machine;
    private Device device;
    private ProgressEngine engine;
    private Dma dma;
    private Buf destination;
    private DmaMemcpyTask task;
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
        dma.setMemcpyTasks(
                1,
                _ -> completed++,
                one -> {
                    throw new IllegalStateException("task has failed: status=" + one.status());
                });
        engine.connect(dma);
        dma.start();
        destination = inventory.bufByAddress(mmap, BYTES, BYTES);
        task = dma.allocateMemcpy(inventory.bufByData(mmap, 0, BYTES), destination);
    }

    @TearDown
    public void tearDown() throws IOException {
        task.source().release();
        task.free();
        destination.release();
        dma.close();
        engine.close();
        inventory.close();
        mmap.close();
        memory.close();
        device.close();
        machine.close();
        folder.close();
    }

    @Benchmark
    public int dma() {
        task.submit();
        while (dma.inFlightTasks() > 0) {
            engine.progress();
        }
        destination.resetDataLength();
        return completed;
    }

    /** In the slices in which DMA copies, so that both meet the caches in the same way. */
    @Benchmark
    public void memcpy() throws Throwable {
        long from = memory.segment().address();
        for (long at = 0; at < BYTES; at += Copier.SLICE_BYTES) {
            MEMCPY.invokeExact(from + BYTES + at, from + at, Copier.SLICE_BYTES);
        }
    }
}
