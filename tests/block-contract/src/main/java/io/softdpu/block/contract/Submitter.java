package io.softdpu.block.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.block.BlockContext;
import io.softdpu.block.BlockDevice;
import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.property.BlockProperties;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Test fixture: an engine of the thread that creates it, with a context of a device, and memory for
 * its bufs. A completed task is given to the consumer that it has as its object, if any.
 */
final class Submitter implements AutoCloseable {
    /** Size of the memory for bufs. */
    static final int MEMORY_BYTES = 4 << 20;

    /** Elements of the inventory. */
    private static final int BUFS = 8192 + 64;

    final ProgressEngine engine;
    final BlockContext context;
    final Mmap mmap;
    final MemorySegment memory;
    final BufInventory inventory;

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    private Submitter(BlockDevice device) {
        boolean made = false;
        try {
            engine = add(ProgressEngine.create());
            LocalMemory allocated = add(LocalMemory.allocate(MEMORY_BYTES));
            memory = allocated.segment();
            context = device.createContext();
            mmap = map(allocated, Permissions.LOCAL_READ_WRITE);
            inventory = add(BufInventory.create(BUFS));
            inventory.start();
            add(context); // closed first
            engine.connect(context);
            made = true;
        } finally {
            if (!made) {
                close();
            }
        }
    }

    /**
     * Starts a context with as many tasks of each type that the device has; if it does not start,
     * all is closed.
     */
    static Submitter start(BlockDevice device, int tasks) {
        Submitter submitter = new Submitter(device);
        boolean started = false;
        try {
            configure(submitter.context, tasks, Submitter::completed);
            submitter.context.start();
            started = true;
            return submitter;
        } finally {
            if (!started) {
                submitter.close();
            }
        }
    }

    /** Configures each type of tasks that the device has. */
    static void configure(BlockContext context, int tasks, Consumer<Task> completed) {
        BlockProperties properties = context.blockDevice().properties();
        context.setReadTasks(tasks, completed::accept, completed::accept);
        if (!properties.has(BlockFeature.READ_ONLY)) {
            context.setWriteTasks(tasks, completed::accept, completed::accept);
        }
        if (properties.has(BlockFeature.FLUSH)) {
            context.setFlushTasks(tasks, completed::accept, completed::accept);
        }
        if (properties.has(BlockFeature.DISCARD)) {
            context.setDiscardTasks(tasks, completed::accept, completed::accept);
        }
        if (properties.has(BlockFeature.WRITE_ZEROES)) {
            context.setWriteZeroesTasks(tasks, completed::accept, completed::accept);
        }
        if (properties.has(BlockFeature.EXTENTS)) {
            context.setExtentsTasks(tasks, completed::accept, completed::accept);
        }
    }

    @SuppressWarnings("unchecked") // tests attach consumers of tasks alone
    private static void completed(Task task) {
        if (task.userObject() instanceof Consumer<?> waiting) {
            ((Consumer<Task>) waiting).accept(task);
        }
    }

    <T extends AutoCloseable> T add(T closeable) {
        opened.push(closeable);
        return closeable;
    }

    /** An mmap over all of this memory, for the device of the context. */
    Mmap map(LocalMemory over, Permissions permissions) {
        return add(
                Mmap.create()
                        .setMemory(over)
                        .setPermissions(permissions)
                        .addDevice(context.device())
                        .start());
    }

    /** An mmap over the program's own memory, for the device of the context; the test closes it. */
    Mmap mapped(MemorySegment over) {
        return Mmap.create()
                .setMemory(over)
                .setPermissions(Permissions.LOCAL_READ_WRITE)
                .addDevice(context.device())
                .start();
    }

    /** A buf with room for data. */
    Buf room(long at, long lengthBytes) {
        return inventory.bufByAddress(mmap, at, lengthBytes);
    }

    /** A buf with data. */
    Buf data(long at, long lengthBytes) {
        return inventory.bufByData(mmap, at, lengthBytes);
    }

    // ---- whole operations ----

    /** Submits a task, awaits its end, and frees it; its status, or that of the refusal. */
    Status run(Task task) {
        Status submitted = submit(task);
        if (submitted == Status.SUCCESS) {
            awaitEnd();
            submitted = task.status();
        }
        task.free();
        return submitted;
    }

    /** Submits a task, again while a queue is full. */
    Status submit(Task task) {
        Status[] submitted = {task.trySubmit()};
        Await.byStep(
                "acceptance of a task",
                () -> submitted[0] != Status.AGAIN,
                () -> {
                    progress();
                    submitted[0] = task.trySubmit();
                });
        return submitted[0];
    }

    /** Progresses until nothing is in flight. */
    void awaitEnd() {
        Await.byStep("end of all tasks", () -> context.inFlightTasks() == 0, this::progress);
    }

    /** Sleeps until nothing is in flight. */
    void sleepUntilEnd() {
        long until = System.nanoTime() + Patience.DEADLINE.toNanos();
        while (context.inFlightTasks() > 0) {
            boolean _ = engine.awaitUntil(until);
            assertThat(System.nanoTime() - until).as("time beyond the deadline").isNegative();
        }
    }

    void progress() {
        boolean _ = engine.progress();
    }

    Status read(long offsetBytes, long lengthBytes, long at) {
        Buf buf = room(at, lengthBytes);
        Status ended = run(context.allocateRead(offsetBytes, lengthBytes, buf));
        assertThat(buf.dataLength()).isEqualTo(ended == Status.SUCCESS ? lengthBytes : 0);
        buf.release();
        return ended;
    }

    /** The bytes of a range, read into memory that held other ones. */
    byte[] bytes(long offsetBytes, int lengthBytes) {
        memory.asSlice(0, lengthBytes).fill((byte) 0xA5);
        assertThat(read(offsetBytes, lengthBytes, 0)).isEqualTo(Status.SUCCESS);
        return memory.asSlice(0, lengthBytes).toArray(ValueLayout.JAVA_BYTE);
    }

    Status write(long offsetBytes, byte[] bytes, boolean fua) {
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
        Buf buf = data(0, bytes.length);
        Status ended = run(context.allocateWrite(offsetBytes, buf).setFua(fua));
        buf.release();
        return ended;
    }

    void write(long offsetBytes, byte[] bytes) {
        assertThat(write(offsetBytes, bytes, false)).isEqualTo(Status.SUCCESS);
    }

    Status flush() {
        return run(context.allocateFlush());
    }

    /** Whether the context is IDLE and all is given back. */
    void assertEnded() {
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
        assertThat(context.inFlightTasks()).isZero();
        assertThat(context.allocatedTasks()).isZero();
        assertThat(inventory.free()).isEqualTo(inventory.total());
    }

    /** Stops the context and awaits its end. */
    void stop() {
        context.stop();
        Await.byStep(
                "end of the context", () -> context.state() == ContextState.IDLE, this::progress);
    }

    @Override
    public void close() {
        @Nullable Exception first = null;
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                if (first == null) {
                    first = e;
                } else {
                    first.addSuppressed(e);
                }
            }
        }
        if (first != null) {
            throw new AssertionError("a part of the submitter cannot be closed", first);
        }
    }
}
