package io.softdpu.benchmarks;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.BufPool;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import java.io.IOException;
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

/** A buf out of an inventory, or a pool, and back into it. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class BufBenchmark {
    private static final int BYTES = 1 << 20;

    private final Folder folder = Folder.make();
    private final SharedMemory memory = SharedMemory.allocate(BYTES);
    private final Mmap mmap = Mmap.create();
    private final BufInventory inventory = BufInventory.create(64);
    private BufPool pool;
    private Machine machine;
    private Device device;
    private long offset;

    @Setup
    public void setUp() {
        machine = Machine.builder(Side.HOST).fabricFolder(folder.path()).open();
        device = machine.findDevice("pf0").open();
        mmap.setMemory(memory)
                .setPermissions(Permissions.of(AccessFlag.LOCAL_READ_WRITE))
                .addDevice(device)
                .start();
        inventory.start();
        pool = BufPool.create(64, 4096, mmap).start();
    }

    @TearDown
    public void tearDown() throws IOException {
        pool.close();
        inventory.close();
        mmap.close();
        memory.close();
        device.close();
        machine.close();
        folder.close();
    }

    @Benchmark
    public long getAndReturn() {
        offset = (offset + 4096) & (BYTES - 1);
        Buf buf = inventory.bufByAddress(mmap, offset, 4096);
        long length = buf.length();
        buf.release();
        return length;
    }

    @Benchmark
    public long getAndReturnOfAPool() {
        Buf buf = pool.allocate();
        long length = buf.length();
        buf.release();
        return length;
    }
}
