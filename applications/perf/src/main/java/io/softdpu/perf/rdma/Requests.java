package io.softdpu.perf.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.pair.Latencies;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCompareAndSwapTask;
import io.softdpu.rdma.RdmaConnection;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Operations of one side: a window of tasks, which are submitted one after the other, again and
 * again; RDMA completes them in the same order. Allocates nothing between its begin and its end.
 * Belongs to the side's thread.
 */
final class Requests {
    /** Value of writes with immediate. */
    private static final int IMMEDIATE = 1;

    private final RdmaSide side;
    private final RdmaPlan plan;
    private final Task[] tasks;
    private final @Nullable Buf[] appended;
    private final boolean[] inFlight;
    private final long[] stamps;
    private final Latencies latencies = new Latencies();
    private int next;
    private int idle;
    private long completed;
    private long number;

    /** Configures the instance of the side, which has not been started. */
    Requests(RdmaSide side) {
        this.side = side;
        plan = side.plan;
        int count = plan.window();
        tasks = new Task[count];
        appended = new @Nullable Buf[count];
        inFlight = new boolean[count];
        stamps = new long[count];
        Rdma rdma = side.rdma;
        rdma.setSendQueueSize(count);
        switch (plan.operation()) {
            case WRITE -> rdma.setWriteTasks(count, this::completed, this::failed);
            case READ -> rdma.setReadTasks(count, this::completed, this::failed);
            case SEND -> rdma.setSendTasks(count, this::completed, this::failed);
            case WRITE_IMMEDIATE ->
                    rdma.setWriteImmediateTasks(count, this::completed, this::failed);
            case FETCH_AND_ADD -> rdma.setFetchAndAddTasks(count, this::completed, this::failed);
            case COMPARE_AND_SWAP ->
                    rdma.setCompareAndSwapTasks(count, this::completed, this::failed);
        }
    }

    /**
     * Allocates the tasks.
     *
     * @param connection connected
     * @param there the memory of the peer; null for sends
     */
    void allocate(RdmaConnection connection, @Nullable Mmap there) {
        for (int i = 0; i < tasks.length; i++) {
            tasks[i] = allocate(i, connection, there);
            tasks[i].setUserData(i);
            idle++;
        }
    }

    private Task allocate(int i, RdmaConnection connection, @Nullable Mmap there) {
        Side own = side.side;
        Side other = own == Side.HOST ? Side.DPU : Side.HOST;
        long here = plan.ownOffset(own) + i * plan.strideBytes();
        long remote =
                plan.peerOffset(other) + (plan.operation().isAtomic() ? 0 : i * plan.strideBytes());
        Rdma rdma = side.rdma;
        return switch (plan.operation()) {
            case WRITE -> {
                Buf destination = appended(i, side.room(peer(there), remote));
                yield rdma.allocateWrite(connection, side.data(side.mmap, here), destination);
            }
            case WRITE_IMMEDIATE -> {
                Buf destination = appended(i, side.room(peer(there), remote));
                yield rdma.allocateWriteImmediate(
                        connection, side.data(side.mmap, here), destination, IMMEDIATE);
            }
            case READ -> {
                Buf destination = appended(i, side.room(side.mmap, here));
                yield rdma.allocateRead(connection, side.data(peer(there), remote), destination);
            }
            case SEND -> rdma.allocateSend(connection, side.data(side.mmap, here));
            case FETCH_AND_ADD -> {
                Buf result = appended(i, side.room(side.mmap, here));
                yield rdma.allocateFetchAndAdd(
                        connection, side.data(peer(there), remote), result, 1);
            }
            case COMPARE_AND_SWAP -> {
                Buf result = appended(i, side.room(side.mmap, here));
                yield rdma.allocateCompareAndSwap(
                        connection, side.data(peer(there), remote), result, 0, 1);
            }
        };
    }

    private Buf appended(int i, Buf buf) {
        appended[i] = buf;
        return buf;
    }

    private static Mmap peer(@Nullable Mmap there) {
        return Objects.requireNonNull(there, "memory of the peer");
    }

    /** Begins a run: forgets the latencies, and counts from 0. */
    void reset() {
        latencies.reset();
        completed = 0;
        number = 0;
    }

    /** Whether a task can be submitted. */
    boolean hasIdle() {
        return idle > 0;
    }

    /** Whether no task is in flight. */
    boolean isIdle() {
        return idle == tasks.length;
    }

    /** Number of those submitted since the begin of the run. */
    long submitted() {
        return number;
    }

    /** Number of those completed since the begin of the run. */
    long completed() {
        return completed;
    }

    /** Times from submission to completion of those with a stamp. */
    Latencies latencies() {
        return latencies;
    }

    /**
     * Submits the next task, which is idle.
     *
     * @param stamp the time, if the latency is to be recorded; 0 if not
     */
    void submit(long stamp) {
        int i = next;
        Task task = tasks[i];
        Buf buf = appended[i];
        if (buf != null) {
            buf.resetDataLength();
        }
        if (task instanceof RdmaCompareAndSwapTask swap) {
            // They are executed in order, so each finds what the one before has left.
            swap.setCompareData(number).setSwapData(number + 1);
        }
        stamps[i] = stamp;
        if (task.trySubmit() != Status.SUCCESS) {
            throw Objects.requireNonNull(task.refusal(), "refused");
        }
        inFlight[i] = true;
        idle--;
        number++;
        next = i + 1 == tasks.length ? 0 : i + 1;
    }

    private void completed(Task task) {
        int i = (int) task.userData();
        if (stamps[i] != 0) {
            latencies.record(System.nanoTime() - stamps[i]);
        }
        completed++;
        ended(i);
    }

    private void failed(Task task) {
        Status status = task.status();
        ended((int) task.userData());
        if (!side.isClosing()) {
            throw new DpuException(
                    status,
                    Text.format(
                            "operation of the measurement has failed: op=%s, peer=%s",
                            plan.operation().word(), side.peer()));
        }
    }

    private void ended(int i) {
        inFlight[i] = false;
        idle++;
        if (side.isClosing()) {
            tasks[i].free();
        }
    }

    /** Frees the tasks that are not in flight: a context stops when all are free. */
    void freeIdle() {
        for (int i = 0; i < tasks.length; i++) {
            Task task = tasks[i];
            if (task != null && !inFlight[i]) {
                task.free();
            }
        }
    }
}
