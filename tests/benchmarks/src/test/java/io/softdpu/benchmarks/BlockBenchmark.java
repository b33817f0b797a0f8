package io.softdpu.benchmarks;

import io.softdpu.block.BlockContext;
import io.softdpu.block.BlockDevice;
import io.softdpu.block.BlockFlushTask;
import io.softdpu.block.BlockReadTask;
import io.softdpu.block.BlockWriteTask;
import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
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
 * A task of a block device, submitted and completed: with no blocks, so that all of it is the way
 * through the library, and a read of 4 KiB of memory beside the bare copy.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class BlockBenchmark {
    private static final int BLOCK = 4096;

    private final Folder folder = Folder.make();
    private final LocalMemory memory = LocalMemory.allocate(2 * BLOCK);
    private final MemorySegment bytes = memory.segment();
    private final Mmap mmap = Mmap.create();
    private final BufInventory inventory = BufInventory.create(2);
    private final BlockDevice none = BlockDevice.open("null:1MiB", BLOCK);
    private final BlockDevice blocks = BlockDevice.open("memory:1MiB", BLOCK);
    private Machine machine;
    private Device device;
    private ProgressEngine engine;
    private BlockContext ofNone;
    private BlockContext ofBlocks;
    private Buf data;
    private Buf room;
    private BlockWriteTask write;
    private BlockFlushTask flush;
    private BlockReadTask read;
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
        ofNone = start(none);
        ofBlocks = start(blocks);
        data = inventory.bufByData(mmap, 0, BLOCK);
        room = inventory.bufByAddress(mmap, BLOCK, BLOCK);
        write = ofNone.allocateWrite(0, data);
        flush = ofNone.allocateFlush();
        read = ofBlocks.allocateRead(0, BLOCK, room);
    }

    private BlockContext start(BlockDevice opened) {
        opened.attach(device);
        BlockContext context =
                opened.createContext()
                        .setReadTasks(1, _ -> completed++, BlockBenchmark::failed)
                        .setWriteTasks(1, _ -> completed++, BlockBenchmark::failed)
                        .setFlushTasks(1, _ -> completed++, BlockBenchmark::failed);
        engine.connect(context);
        context.start();
        return context;
    }

    private static void failed(Task task) {
        throw new IllegalStateException("task has failed: status=" + task.status());
    }

    @TearDown
    public void tearDown() throws IOException {
        write.free();
        flush.free();
        read.free();
        data.release();
        room.release();
        ofNone.close();
        ofBlocks.close();
        engine.close();
        none.close();
        blocks.close();
        inventory.close();
        mmap.close();
        memory.close();
        device.close();
        machine.close();
        folder.close();
    }

    /** What a read of memory is measured against. */
    @Benchmark
    public void rawCopy() {
        MemorySegment.copy(bytes, 0, bytes, BLOCK, BLOCK);
    }

    @Benchmark
    public int nullWrite() {
        write.submit();
        engine.progress();
        return completed;
    }

    @Benchmark
    public int nullFlush() {
        flush.submit();
        engine.progress();
        return completed;
    }

    @Benchmark
    public int memoryRead() {
        read.submit();
        engine.progress();
        room.resetDataLength();
        return completed;
    }
}
