package io.softdpu.samples;

import io.softdpu.compute.DmaMemcpyTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Common setup of the samples that copy: a device of the DPU, memory for a number of copies, an
 * inventory of bufs, and an engine. Each copy has a source, filled with a value of its own, and a
 * destination beside it, filled with zeros.
 */
final class DmaSampleSetup implements AutoCloseable {
    /** The settings of a sample that works on this. */
    static final List<SampleOption> OPTIONS = List.of(SampleOption.DEVICE, SampleOption.TIMEOUT);

    private final int bytesPerCopy;
    private final Deadline deadline;
    private final Deque<Runnable> opened = new ArrayDeque<>();
    private final Device device;
    private final SharedMemory memory;
    private final Mmap mmap;
    private final BufInventory inventory;
    private final ProgressEngine engine;

    /** Opens all of it, for this many copies of this size, each by a task of its own. */
    DmaSampleSetup(SampleSettings settings, int copies, int bytesPerCopy) {
        this(settings, copies, bytesPerCopy, copies);
    }

    /** Opens all of it, for contexts with this many tasks. */
    DmaSampleSetup(SampleSettings settings, int copies, int bytesPerCopy, int tasks) {
        this.bytesPerCopy = bytesPerCopy;
        deadline = Deadline.in(settings.timeout());
        try {
            // A program names its side of the card, and the device that it uses.
            Machine machine = Machine.builder(Side.DPU).topology(settings.topology()).open();
            opened.push(machine::close);
            String named = settings.value(SampleOption.DEVICE);
            device = SampleDevices.forDma(machine, named, tasks, bytesPerCopy).open();
            opened.push(device::close);
            // Memory becomes usable for a device by an mmap; bufs then name parts of it.
            memory = SharedMemory.allocate(2L * copies * bytesPerCopy);
            opened.push(memory::close);
            mmap = Mmap.create();
            opened.push(mmap::close);
            mmap.setMemory(memory)
                    .setPermissions(Permissions.LOCAL_READ_WRITE)
                    .addDevice(device)
                    .start();
            inventory = BufInventory.create(2 * copies);
            opened.push(inventory::close);
            inventory.start();
            engine = ProgressEngine.create();
            opened.push(engine::close);
        } catch (DpuException e) {
            close(); // what was opened before this failed
            throw e;
        }
    }

    Device device() {
        return device;
    }

    ProgressEngine engine() {
        return engine;
    }

    Deadline deadline() {
        return deadline;
    }

    /** A buf with the data of a copy. */
    Buf source(int copy) {
        sourceBytes(copy).fill(value(copy));
        return inventory.bufByData(mmap, offset(copy), bytesPerCopy);
    }

    /** A further buf with the same data, from an inventory of the caller. */
    Buf source(int copy, BufInventory from) {
        sourceBytes(copy).fill(value(copy));
        return from.bufByData(mmap, offset(copy), bytesPerCopy);
    }

    /** The data of a copy. */
    ByteBuffer data(int copy) {
        return sourceBytes(copy).asByteBuffer();
    }

    /** An empty buf where the copy is to arrive. */
    Buf destination(int copy) {
        destinationBytes(copy).fill((byte) 0);
        return inventory.bufByAddress(mmap, offset(copy) + bytesPerCopy, bytesPerCopy);
    }

    /**
     * Looks whether a copy has arrived.
     *
     * @throws WrongDataException if it has not
     */
    void check(int copy) {
        check(copy, value(copy), destinationBytes(copy));
    }

    /** Fails if {@code found} differs from {@code expected}. */
    static void check(int copy, byte expected, MemorySegment found) {
        for (long i = 0; i < found.byteSize(); i++) {
            byte there = found.get(ValueLayout.JAVA_BYTE, i);
            if (there != expected) {
                throw new WrongDataException(
                        Text.format(
                                "data is wrong: copy=%d, byte=%d, found=%d, expected=%d",
                                copy, i, there, expected));
            }
        }
    }

    /** Progresses, and sleeps where there is nothing to do, until this holds. */
    void runUntil(BooleanSupplier condition, Context... contexts) {
        engine.runUntil(condition, deadline.remaining(), contexts);
    }

    /**
     * Submits a task. A library may have no room just now and say AGAIN; then something has to be
     * completed first, which is what progress does.
     */
    void submit(Task task) {
        Status submitted = task.trySubmit();
        while (submitted == Status.AGAIN) {
            engine.progress();
            deadline.check("room for a task");
            submitted = task.trySubmit();
        }
        if (submitted != Status.SUCCESS) {
            throw new DpuException(submitted, "task was not submitted: index=" + task.userData());
        }
    }

    /** Gives a task and its bufs back to where they came from. */
    static void free(DmaMemcpyTask task) {
        Buf source = task.source();
        Buf destination = task.destination();
        task.free();
        source.release();
        destination.release();
    }

    /** The exception for an unexpected failure of a task; the engine passes it on. */
    static void failed(DmaMemcpyTask task) {
        throw new DpuException(task.status(), "task has failed: index=" + task.userData());
    }

    /** In the opposite order, each after what is built on it. */
    @Override
    public void close() {
        while (!opened.isEmpty()) {
            opened.pop().run();
        }
    }

    private MemorySegment sourceBytes(int copy) {
        return memory.segment().asSlice(offset(copy), bytesPerCopy);
    }

    private MemorySegment destinationBytes(int copy) {
        return memory.segment().asSlice(offset(copy) + bytesPerCopy, bytesPerCopy);
    }

    private long offset(int copy) {
        return 2L * copy * bytesPerCopy;
    }

    private static byte value(int copy) {
        return (byte) (1 + copy % 255); // never 0, which the destinations are filled with
    }
}
