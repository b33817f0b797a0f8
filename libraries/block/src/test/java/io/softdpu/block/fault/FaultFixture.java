package io.softdpu.block.fault;

import io.softdpu.block.BlockContext;
import io.softdpu.block.BlockDevice;
import io.softdpu.block.BlockReadTask;
import io.softdpu.block.BlockWriteTask;
import io.softdpu.block.property.BlockFeature;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

/** Test fixture: a context of a device, and memory for its tasks. */
final class FaultFixture implements AutoCloseable {
    static final int MEMORY_BYTES = 1 << 20;

    final BlockDevice blockDevice;
    final BlockContext context;
    final ProgressEngine engine;
    final MemorySegment memory;

    private final Mmap mmap;
    private final BufInventory inventory;
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    /** A context of a device that is attached already, or is attached now. */
    FaultFixture(Device device, BlockDevice blockDevice, boolean attach) {
        this.blockDevice = blockDevice;
        if (attach) {
            blockDevice.attach(device);
        }
        engine = add(ProgressEngine.create());
        LocalMemory local = add(LocalMemory.allocate(MEMORY_BYTES));
        memory = local.segment();
        mmap =
                add(
                        Mmap.create()
                                .setMemory(local)
                                .setPermissions(Permissions.LOCAL_READ_WRITE)
                                .addDevice(device)
                                .start());
        inventory = add(BufInventory.create(16));
        inventory.start();
        context = add(blockDevice.createContext());
        context.setReadTasks(8, _ -> {}, _ -> {}).setWriteTasks(8, _ -> {}, _ -> {});
        if (blockDevice.properties().has(BlockFeature.FLUSH)) {
            context.setFlushTasks(8, _ -> {}, _ -> {})
                    .setDiscardTasks(8, _ -> {}, _ -> {})
                    .setWriteZeroesTasks(8, _ -> {}, _ -> {});
        }
        engine.connect(context);
        context.start();
    }

    /** A device of its own, closed with this. */
    static FaultFixture open(Device device, BlockDevice blockDevice) {
        FaultFixture made = new FaultFixture(device, blockDevice, true);
        made.opened.addLast(blockDevice);
        return made;
    }

    private <T extends AutoCloseable> T add(T closeable) {
        opened.push(closeable);
        return closeable;
    }

    // ---- single tasks ----

    /** Sleeps until a task has ended; its status. */
    Status await(Task task) {
        while (task.status() == Status.IN_PROGRESS) {
            if (!engine.await(Patience.LIMIT)) {
                throw new AssertionError("nothing has happened");
            }
        }
        return task.status();
    }

    /** Runs a task to its end, and frees it. */
    Status run(Task task) {
        task.submit();
        Status ended = await(task);
        task.free();
        return ended;
    }

    /** Progresses as long as anything can be done at once. */
    void drain() {
        while (engine.progress()) {
            Thread.onSpinWait();
        }
    }

    Status write(long offset, byte[] bytes, boolean fua) {
        put(0, bytes);
        Buf buf = inventory.bufByData(mmap, 0, bytes.length);
        Status ended = run(context.allocateWrite(offset, buf).setFua(fua));
        buf.release();
        return ended;
    }

    /** The bytes that a read has put into memory, which had others before. */
    byte[] read(long offset, int lengthBytes) {
        Status ended = tryRead(offset, lengthBytes);
        if (ended != Status.SUCCESS) {
            throw new AssertionError("read has failed: " + ended);
        }
        return get(0, lengthBytes);
    }

    Status tryRead(long offset, int lengthBytes) {
        memory.asSlice(0, lengthBytes).fill((byte) 0xA5);
        Buf buf = inventory.bufByAddress(mmap, 0, lengthBytes);
        Status ended = run(context.allocateRead(offset, lengthBytes, buf));
        if (ended == Status.SUCCESS && buf.dataLength() != lengthBytes) {
            throw new AssertionError("data of the buf: " + buf.dataLength());
        }
        buf.release();
        return ended;
    }

    Status flush() {
        return run(context.allocateFlush());
    }

    // ---- tasks in flight; each has a place of 4 KiB in memory ----

    BlockReadTask beginRead(int place, long offset, int lengthBytes) {
        Buf buf = inventory.bufByAddress(mmap, place * 4096L, lengthBytes);
        BlockReadTask task = context.allocateRead(offset, lengthBytes, buf);
        task.submit();
        return task;
    }

    BlockWriteTask beginWrite(int place, long offset, byte[] bytes) {
        put(place * 4096L, bytes);
        Buf buf = inventory.bufByData(mmap, place * 4096L, bytes.length);
        BlockWriteTask task = context.allocateWrite(offset, buf);
        task.submit();
        return task;
    }

    static void free(BlockReadTask task) {
        Buf buf = task.destination();
        task.free();
        buf.release();
    }

    static void free(BlockWriteTask task) {
        Buf buf = task.source();
        task.free();
        buf.release();
    }

    // ---- bytes ----

    private void put(long at, byte[] bytes) {
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, at, bytes.length);
    }

    byte[] get(long at, int lengthBytes) {
        return memory.asSlice(at, lengthBytes).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Number of bits in which two arrays of the same length differ. */
    static int differingBits(byte[] one, byte[] other) {
        int bits = 0;
        for (int i = 0; i < one.length; i++) {
            bits += Integer.bitCount((one[i] ^ other[i]) & 0xff);
        }
        return bits;
    }

    /** Whether a part of two arrays is the same. */
    static boolean isSame(byte[] one, byte[] other, int from, int lengthBytes) {
        return Arrays.equals(one, from, from + lengthBytes, other, from, from + lengthBytes);
    }

    @Override
    public void close() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }
}
