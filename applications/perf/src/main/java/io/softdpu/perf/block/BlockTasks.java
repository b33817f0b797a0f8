package io.softdpu.perf.block;

import io.softdpu.block.BlockContext;
import io.softdpu.block.BlockDevice;
import io.softdpu.block.BlockFlushTask;
import io.softdpu.block.BlockReadTask;
import io.softdpu.block.BlockTaskCallback;
import io.softdpu.block.BlockWriteTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.pair.EngineTurns;
import io.softdpu.perf.pair.Latencies;
import io.softdpu.perf.pair.ResourceStack;
import io.softdpu.perf.pair.StopSign;
import io.softdpu.perf.result.MeasurementNotes;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of a measurement, each of which is submitted again as soon as it has ended. Allocates
 * nothing while it drives them. Belongs to the thread of the engine.
 */
final class BlockTasks implements AutoCloseable {
    private static final long PAGE_BYTES = 4096;

    /** Time for requests in flight to leave the device after a failure. */
    private static final long END_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final BlockPlan plan;
    private final StopSign stop;
    private final BlockContext context;
    private final EngineTurns turns;
    private final Latencies latencies;
    private final ResourceStack resources = new ResourceStack();

    /** By the user data of the task. */
    private final List<Task> tasks = new ArrayList<>();

    private final List<Buf> bufs = new ArrayList<>();
    private final long[] submittedNanos;

    /** Tasks that the device has refused with AGAIN. */
    private final int[] waiting;

    private int waitingCount;

    /** Number of places for an operation in the device. */
    private final long places;

    private long nextPlace;
    private long randomState;

    private long operations;
    private long beginNanos;
    private long lastNanos;
    private boolean isOver;
    private @Nullable DpuException failure;

    /**
     * Starts a context.
     *
     * @param index of the thread among those of the measurement, from 0 on
     * @param latencies of the operations of the last run
     */
    BlockTasks(
            BlockPlan plan,
            BlockDevice volume,
            ProgressEngine engine,
            int index,
            Latencies latencies,
            StopSign stop) {
        this.plan = plan;
        this.latencies = latencies;
        this.stop = stop;
        randomState = (index + 1) * 0x9E37_79B9_7F4A_7C15L;
        submittedNanos = new long[plan.depth()];
        waiting = new int[plan.depth()];
        places = plan.sizeBytes() == 0 ? 1 : volume.properties().sizeBytes() / plan.sizeBytes();
        nextPlace = places / plan.threads() * index;
        turns =
                new EngineTurns(
                        engine,
                        plan.waiting(),
                        plan.pollers(),
                        MeasurementNotes.availableProcessors());
        context = volume.createContext();
        resources.keep(context);
        try {
            configure(engine);
            makeTasks();
        } catch (RuntimeException e) {
            freeAll();
            resources.closeAfter(e);
            throw e;
        }
    }

    private void configure(ProgressEngine engine) {
        int depth = plan.depth();
        switch (plan.load()) {
            case READ -> {
                BlockTaskCallback<BlockReadTask> failed = this::failed;
                context.setReadTasks(depth, this::readEnded, failed);
            }
            case WRITE -> {
                BlockTaskCallback<BlockWriteTask> failed = this::failed;
                context.setWriteTasks(depth, this::ended, failed);
            }
            case FLUSH -> {
                BlockTaskCallback<BlockFlushTask> failed = this::failed;
                context.setFlushTasks(depth, this::ended, failed);
            }
        }
        engine.connect(context);
        context.start();
    }

    private void makeTasks() {
        if (plan.load() == BlockLoad.FLUSH) {
            for (int i = 0; i < plan.depth(); i++) {
                keep(context.allocateFlush());
            }
            return;
        }
        long distanceBytes = (plan.sizeBytes() + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        LocalMemory memory = resources.keep(LocalMemory.allocate(distanceBytes * plan.depth()));
        for (long at = 0; at < memory.sizeBytes(); at += Long.BYTES) {
            memory.segment().set(ValueLayout.JAVA_LONG, at, random());
        }
        Mmap mmap =
                resources.keep(
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(Permissions.LOCAL_READ_WRITE)
                                .addDevice(context.device())
                                .start());
        BufInventory inventory = resources.keep(BufInventory.create(plan.depth()));
        inventory.start();
        for (int i = 0; i < plan.depth(); i++) {
            long at = i * distanceBytes;
            if (plan.load() == BlockLoad.READ) {
                Buf buf = inventory.bufByAddress(mmap, at, plan.sizeBytes());
                bufs.add(buf);
                keep(context.allocateRead(0, plan.sizeBytes(), buf));
            } else {
                Buf buf = inventory.bufByData(mmap, at, plan.sizeBytes());
                bufs.add(buf);
                BlockWriteTask task = context.allocateWrite(0, buf);
                keep(task);
                task.setFua(plan.fua());
            }
        }
    }

    private void keep(Task task) {
        task.setUserData(tasks.size());
        tasks.add(task);
    }

    // ---- a run ----

    /**
     * Drives the load until the time of the plan is over and the last operation has ended.
     *
     * @throws DpuException the status of an operation that has failed; the reason to stop
     */
    void drive() {
        latencies.reset();
        operations = 0;
        waitingCount = 0;
        isOver = false;
        beginNanos = System.nanoTime();
        lastNanos = beginNanos;
        for (int i = 0; i < tasks.size(); i++) {
            submit(i, System.nanoTime());
        }
        while (context.inFlightTasks() > 0 || waitingCount > 0) {
            submitWaiting();
            stop.check();
            if (!turns.turn()) {
                look(System.nanoTime());
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private void look(long now) {
        isOver |= now - beginNanos >= plan.nanos();
    }

    private void submitWaiting() {
        int count = waitingCount;
        waitingCount = 0;
        for (int i = 0; i < count && !isOver; i++) {
            submit(waiting[i], System.nanoTime());
        }
    }

    private void submit(int index, long now) {
        Task task = tasks.get(index);
        if (task instanceof BlockReadTask read) {
            read.setRange(nextOffset(), plan.sizeBytes());
        } else if (task instanceof BlockWriteTask write) {
            write.setOffset(nextOffset());
        }
        submittedNanos[index] = now;
        Status submitted = task.trySubmit();
        if (submitted == Status.AGAIN) {
            waiting[waitingCount] = index;
            waitingCount++;
        } else if (submitted != Status.SUCCESS) {
            fail(Objects.requireNonNull(task.refusal(), "refused"));
        }
    }

    private long nextOffset() {
        long place = plan.random() ? Long.remainderUnsigned(random(), places) : nextPlace;
        nextPlace = place + 1 == places ? 0 : place + 1;
        return place * plan.sizeBytes();
    }

    /** Xorshift, which allocates nothing. */
    private long random() {
        randomState ^= randomState << 13;
        randomState ^= randomState >>> 7;
        randomState ^= randomState << 17;
        return randomState;
    }

    private void readEnded(BlockReadTask task) {
        task.destination().resetDataLength();
        ended(task);
    }

    /** The end of one operation is the begin of the next: the clock is read once. */
    private void ended(Task task) {
        int index = (int) task.userData();
        long now = System.nanoTime();
        latencies.record(now - submittedNanos[index]);
        operations++;
        lastNanos = now;
        look(now);
        if (!isOver) {
            submit(index, now);
        }
    }

    private void failed(Task task) {
        fail(
                new DpuException(
                        task.status(),
                        Text.format(
                                "operation of the measurement has failed: blockDevice=%s,"
                                        + " operation=%s, operations=%d",
                                context.blockDevice(), plan.load().word(), operations)));
    }

    /** The first failure counts; it is thrown when no task is in flight any more. */
    private void fail(DpuException why) {
        isOver = true;
        if (failure == null) {
            failure = why;
        }
    }

    // ---- results ----

    /** Number of operations of the last run. */
    long operations() {
        return operations;
    }

    /** From the begin of the first to the end of the last. */
    long nanos() {
        return Math.max(1, lastNanos - beginNanos);
    }

    // ---- end ----

    /** Awaits the operations in flight, and closes the context and the memory. */
    @Override
    public void close() {
        isOver = true;
        long limit = System.nanoTime() + END_NANOS;
        while (context.inFlightTasks() > 0 && System.nanoTime() - limit < 0) {
            turns.turn();
        }
        freeAll();
        resources.close();
    }

    private void freeAll() {
        if (context.inFlightTasks() == 0) {
            tasks.forEach(Task::free);
            bufs.forEach(Buf::release);
        }
    }
}
