package io.softdpu.block;

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
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Test fixture: a {@link HandDevice} with two contexts on one engine, and memory for bufs. */
final class HandFixture implements AutoCloseable {
    static final int TASKS = 4;

    final HandDevice hand;
    final BlockDevice blockDevice;
    final ProgressEngine engine;
    final BlockContext one;
    final BlockContext two;

    /** Status of each completed task, in the order of the callbacks. */
    final List<Status> ended = new ArrayList<>();

    private final Mmap mmap;
    private final BufInventory inventory;
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    HandFixture(Device device, BlockFeature... features) {
        hand = new HandDevice(features);
        engine = add(ProgressEngine.create());
        blockDevice = add(new BlockDevice(hand));
        blockDevice.attach(device);
        LocalMemory memory = add(LocalMemory.allocate(64 << 10));
        mmap =
                add(
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(Permissions.LOCAL_READ_WRITE)
                                .addDevice(device)
                                .start());
        inventory = add(BufInventory.create(16));
        inventory.start();
        one = start();
        two = start();
    }

    /** Starts a further context, on the same engine. */
    BlockContext start() {
        BlockContext context = add(blockDevice.createContext());
        context.setReadTasks(TASKS, this::completed, this::completed);
        context.setWriteTasks(TASKS, this::completed, this::completed);
        if (blockDevice.properties().has(BlockFeature.FLUSH)) {
            context.setFlushTasks(TASKS, this::completed, this::completed);
        }
        if (blockDevice.properties().has(BlockFeature.WRITE_ZEROES)) {
            context.setWriteZeroesTasks(TASKS, this::completed, this::completed);
        }
        if (blockDevice.properties().has(BlockFeature.EXTENTS)) {
            context.setExtentsTasks(TASKS, this::completed, this::completed);
        }
        engine.connect(context);
        context.start();
        return context;
    }

    private void completed(Task task) {
        ended.add(task.status());
    }

    /** Closes an object with the fixture, before those that were given earlier. */
    <T extends AutoCloseable> T add(T closeable) {
        opened.push(closeable);
        return closeable;
    }

    /** A buf in other memory, whose mmap is closed with the fixture. */
    Buf roomIn(MemorySegment memory) {
        Mmap over =
                add(
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(Permissions.LOCAL_READ_WRITE)
                                .addDevice(one.device())
                                .start());
        return roomIn(over);
    }

    /** A buf in all of an mmap of the test's own. */
    Buf roomIn(Mmap over) {
        return inventory.bufByAddress(over, 0, over.sizeBytes());
    }

    Buf room(long lengthBytes) {
        return inventory.bufByAddress(mmap, 0, lengthBytes);
    }

    Buf data(long lengthBytes) {
        return inventory.bufByData(mmap, 0, lengthBytes);
    }

    /** Ends the oldest request of a context, and has it completed. */
    Status end(int context, Task task, Status status) {
        hand.channels.get(context).end(status);
        while (engine.progress()) {
            Thread.onSpinWait();
        }
        return task.status();
    }

    @Override
    public void close() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }
}
