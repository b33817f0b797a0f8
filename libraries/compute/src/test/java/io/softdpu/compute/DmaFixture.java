package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Test fixture: an engine with a DMA context of a device, an inventory, and memory; closed in
 * reverse order. The status of each completed task is recorded, and the test keeps the task.
 */
final class DmaFixture implements AutoCloseable {

    final Device device;
    final ProgressEngine engine;
    final Dma dma;
    final BufInventory inventory;

    /** Status of each completed task, in the order of the callbacks. */
    final List<Status> ended = new ArrayList<>();

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    DmaFixture(Device device) {
        this.device = device;
        engine = add(ProgressEngine.create());
        dma = add(Dma.create(device));
        engine.connect(dma);
        inventory = add(BufInventory.create(512));
        inventory.start();
    }

    /** Configures tasks whose ends are written down, and starts. */
    DmaFixture start(int tasks) {
        dma.setMemcpyTasks(
                tasks, task -> ended.add(task.status()), task -> ended.add(task.status()));
        dma.start();
        return this;
    }

    <T extends AutoCloseable> T add(T closeable) {
        opened.push(closeable);
        return closeable;
    }

    /** Memory of this machine for local use. */
    Mmap local(int sizeBytes) {
        return mmap(sizeBytes, AccessFlag.LOCAL_READ_WRITE);
    }

    Mmap mmap(int sizeBytes, AccessFlag... flags) {
        SharedMemory memory = add(SharedMemory.allocate(sizeBytes));
        return add(
                Mmap.create()
                        .setMemory(memory)
                        .setPermissions(Permissions.of(flags))
                        .addDevice(device)
                        .start());
    }

    /** An mmap over the program's own memory. */
    Mmap over(MemorySegment memory) {
        return add(
                Mmap.create()
                        .setMemory(memory)
                        .setPermissions(Permissions.LOCAL_READ_WRITE)
                        .addDevice(device)
                        .start());
    }

    Buf source(Mmap mmap, long offset, long length) {
        return inventory.bufByData(mmap, offset, length);
    }

    Buf destination(Mmap mmap, long offset, long length) {
        return inventory.bufByAddress(mmap, offset, length);
    }

    /** Submits a copy; to be freed by the test. */
    DmaMemcpyTask submit(Buf source, Buf destination) {
        DmaMemcpyTask task = dma.allocateMemcpy(source, destination);
        boolean submitted = false;
        try {
            task.submit();
            submitted = true;
        } finally {
            if (!submitted) {
                task.free(); // a task that is not free would block the stop of the context
            }
        }
        return task;
    }

    /** Runs one copy to its end, frees the task and releases the bufs. */
    Status copy(Buf source, Buf destination) {
        DmaMemcpyTask task = submit(source, destination);
        awaitEnd();
        Status status = task.status();
        task.free();
        source.release();
        destination.release();
        return status;
    }

    /**
     * The status of a submission that is expected to be refused; frees the task and releases the
     * bufs, after the end of the copy if it was accepted.
     */
    Status refused(Buf source, Buf destination) {
        DmaMemcpyTask task = dma.allocateMemcpy(source, destination);
        Status status = task.trySubmit();
        awaitEnd();
        task.free();
        source.release();
        destination.release();
        return status;
    }

    /** Until nothing is in flight. */
    void awaitEnd() {
        long until = System.nanoTime() + Patience.DEADLINE.toNanos();
        while (dma.inFlightTasks() > 0) {
            engine.progress();
            if (System.nanoTime() > until) {
                throw new AssertionError("tasks are still in flight: " + dma.inFlightTasks());
            }
        }
    }

    void awaitState(Context context, ContextState state) {
        long until = System.nanoTime() + Patience.DEADLINE.toNanos();
        while (context.state() != state) {
            engine.progress();
            if (System.nanoTime() > until) {
                throw new AssertionError("still " + context.state() + ", not " + state);
            }
        }
    }

    static byte[] bytes(MemorySegment memory, long offset, long length) {
        return memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    @Override
    public void close() throws Exception {
        if (dma.state() == ContextState.RUNNING) {
            dma.stop();
        }
        awaitState(dma, ContextState.IDLE);
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }
}
