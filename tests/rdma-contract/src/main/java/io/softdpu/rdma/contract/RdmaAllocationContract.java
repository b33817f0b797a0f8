package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaReadTask;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.rdma.RdmaWriteTask;
import io.softdpu.testkit.AllocationMeter;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** No allocation on the data path after start, on either side. */
public abstract class RdmaAllocationContract extends RdmaContract {
    private static final int WARM_UP_ROUNDS = 30_000;
    private static final int ROUNDS = 20_000;
    private static final int WRITES = 1_000;
    private static final int MEASUREMENTS = 30;
    private static final int BATCH = 8;
    private static final int LIST_LENGTH = 3;

    private int ended;

    /** For subclasses. */
    protected RdmaAllocationContract() {}

    @Test
    @Clause("core-003")
    void shouldAllocateNothingForTasksInFlight() {
        Peer near = open(true);
        Peer far = open(false);
        Pair pair = connect(near, far);
        Mmap remote = near.importRdma(far);
        Load load = new Load(near, far, pair.toFar(), remote);
        load.run(WARM_UP_ROUNDS);

        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        load.run(ROUNDS);
        long allocatedBytes = threads.getCurrentThreadAllocatedBytes() - before;

        load.free();
        // The measuring itself, and a compiler that deoptimizes once, are not zero: but no
        // operation is.
        assertThat(allocatedBytes).isLessThan(ROUNDS);
    }

    private Peer open(boolean near) {
        return add(
                Peer.open(
                        environment(),
                        folder(),
                        near ? environment().nearSide() : environment().farSide(),
                        Peer.ALL,
                        rdma -> {
                            rdma.setSendTasks(
                                    BATCH, task -> ended++, RdmaAllocationContract::failed);
                            rdma.setReceiveTasks(
                                    BATCH, task -> ended++, RdmaAllocationContract::failed);
                            rdma.setReadTasks(
                                    BATCH, task -> ended++, RdmaAllocationContract::failed);
                            rdma.setWriteTasks(
                                    BATCH, task -> ended++, RdmaAllocationContract::failed);
                            rdma.setSendImmediateTasks(
                                    BATCH, task -> ended++, RdmaAllocationContract::failed);
                            rdma.setWriteImmediateTasks(
                                    BATCH, task -> ended++, RdmaAllocationContract::failed);
                            rdma.setCompareAndSwapTasks(
                                    BATCH, task -> ended++, RdmaAllocationContract::failed);
                            rdma.setFetchAndAddTasks(
                                    BATCH, task -> ended++, RdmaAllocationContract::failed);
                            rdma.setRemoteSyncEventGetTasks(
                                    BATCH, task -> ended++, RdmaAllocationContract::failed);
                            rdma.setRemoteSyncEventNotifySetTasks(
                                    BATCH, task -> ended++, RdmaAllocationContract::failed);
                            rdma.setRemoteSyncEventNotifyAddTasks(
                                    BATCH, task -> ended++, RdmaAllocationContract::failed);
                            rdma.setMaxSendBufferListLength(LIST_LENGTH);
                            rdma.setReceiveBufferListLength(LIST_LENGTH);
                        }));
    }

    @Test
    @Clause("core-003")
    void shouldAllocateNothingForRemoteSyncEvents() {
        Peer near = open(true);
        Peer far = open(false);
        Pair pair = connect(near, far);
        RemoteSyncEvent event = near.remoteEvent(far, far.event());
        Buf pieces = near.room(0, 3);
        pieces.chain(near.room(100, 5));
        Buf[] written = {near.room(200, 8), pieces, near.room(300, 8)};
        Buf joined = near.data(400, 3);
        joined.chain(near.data(500, 5));
        Buf[] sources = {near.data(600, 8), joined};
        Task[] tasks = {
            near.rdma.allocateRemoteSyncEventGet(pair.toFar(), event, written[0]),
            near.rdma.allocateRemoteSyncEventGet(pair.toFar(), event, pieces),
            near.rdma.allocateRemoteSyncEventNotifyAdd(pair.toFar(), event, written[2], 1),
            near.rdma.allocateRemoteSyncEventNotifySet(pair.toFar(), event, sources[0]),
            near.rdma.allocateRemoteSyncEventNotifySet(pair.toFar(), event, joined)
        };
        RdmaReceiveTask[] none = {};
        exchange(WARM_UP_ROUNDS, near, far, tasks, none, 0, written);

        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long begin = threads.getCurrentThreadAllocatedBytes();
        exchange(ROUNDS, near, far, tasks, none, 0, written);
        long allocatedBytes = threads.getCurrentThreadAllocatedBytes() - begin;

        List.of(tasks).forEach(Task::free);
        List.of(written).forEach(Buf::release);
        List.of(sources).forEach(Buf::release);
        assertThat(allocatedBytes).isLessThan(ROUNDS);
    }

    @Test
    @Clause("core-003")
    void shouldAllocateNothingForImmediatesAtomicOperationsAndLists() {
        Peer near = open(true);
        Peer far = open(false);
        Pair pair = connect(near, far);
        Mmap remote = near.importRdma(far);
        List<Task> tasks = new ArrayList<>();
        List<Buf> destinations = new ArrayList<>();
        List<Buf> bufs = new ArrayList<>();
        for (int i = 0; i < BATCH; i++) {
            Buf received = list(far, i, false);
            Buf read = list(near, BATCH + i, false);
            Buf there = near.inventory.bufByData(remote, 8L * i, 8);
            Buf before = near.room(8L * i, 8);
            Buf room = near.inventory.bufByAddress(remote, 500_000 + 4096L * i, 4096);
            Buf source = list(near, i, true);
            Buf data = near.inventory.bufByData(remote, 0, 200);
            destinations.addAll(List.of(received, read, before, room));
            bufs.addAll(List.of(received, read, there, before, room, source, data));
            // One of each per receive task, and the tasks of a round one after the other.
            tasks.add(
                    switch (i % 5) {
                        case 0 -> near.rdma.allocateSendImmediate(pair.toFar(), source, i);
                        case 1 -> near.rdma.allocateWriteImmediate(pair.toFar(), source, room, i);
                        case 2 ->
                                near.rdma.allocateCompareAndSwap(pair.toFar(), there, before, 0, i);
                        case 3 -> near.rdma.allocateFetchAndAdd(pair.toFar(), there, before, i);
                        default -> near.rdma.allocateRead(pair.toFar(), data, read);
                    });
        }
        RdmaReceiveTask[] receives = new RdmaReceiveTask[BATCH];
        for (int i = 0; i < BATCH; i++) {
            receives[i] = far.rdma.allocateReceive(destinations.get(4 * i));
        }
        Task[] submitted = tasks.toArray(Task[]::new);
        Buf[] written = destinations.toArray(Buf[]::new);
        int needed = (int) IntStream.range(0, BATCH).filter(i -> i % 5 < 2).count();
        exchange(WARM_UP_ROUNDS, near, far, submitted, receives, needed, written);

        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long begin = threads.getCurrentThreadAllocatedBytes();
        exchange(ROUNDS, near, far, submitted, receives, needed, written);
        long allocatedBytes = threads.getCurrentThreadAllocatedBytes() - begin;

        tasks.forEach(Task::free);
        for (RdmaReceiveTask receive : receives) {
            receive.free();
        }
        bufs.forEach(Buf::release);
        assertThat(allocatedBytes).isLessThan(ROUNDS);
    }

    /**
     * Threads of the provider serve a peer that makes no progress. What the first calls allocate is
     * in one measurement; what a message allocates is in each.
     */
    @Test
    @Clause("core-003")
    void shouldAllocateNothingInThreadsOfTheProvider() {
        Peer near = open(true);
        Peer far = open(false);
        Pair pair = connect(near, far);
        Buf source = near.data(0, 64);
        Buf destination = near.inventory.bufByAddress(near.importRdma(far), 4096, 64);
        RdmaWriteTask write = near.rdma.allocateWrite(pair.toFar(), source, destination);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        LongStream ofProvider =
                Thread.getAllStackTraces().keySet().stream()
                        .filter(each -> each.getName().startsWith("softdpu-"))
                        .mapToLong(Thread::threadId);
        long[] measured =
                LongStream.concat(ofProvider, LongStream.of(Thread.currentThread().threadId()))
                        .toArray();

        long leastBytes = Long.MAX_VALUE;
        for (int i = 0; i < MEASUREMENTS && leastBytes >= WRITES; i++) {
            long[] before = threads.getThreadAllocatedBytes(measured);
            for (int round = 0; round < WRITES; round++) {
                ended = 0;
                write.submit();
                driveAlone(near);
                destination.resetDataLength();
            }
            long[] after = threads.getThreadAllocatedBytes(measured);
            if (LongStream.of(after).noneMatch(bytes -> bytes < 0)) { // else a thread has ended
                leastBytes =
                        Math.min(
                                leastBytes,
                                LongStream.of(after).sum() - LongStream.of(before).sum());
            }
        }

        write.free();
        source.release();
        destination.release();
        assertThat(leastBytes).as("bytes per %d writes", WRITES).isLessThan(WRITES);
    }

    /** Progresses the near side until a task has ended; the other one makes none. */
    @SuppressWarnings("ThreadPriorityCheck") // threads of the provider may need the processor
    private void driveAlone(Peer near) {
        long start = System.nanoTime();
        while (ended == 0) {
            if (!near.engine.progress()) {
                Thread.yield();
                if (System.nanoTime() - start > Patience.DEADLINE.toNanos()) {
                    throw new AssertionError("nothing moves: write");
                }
            }
        }
    }

    /** What an engine does before each sleep and after it. */
    @Test
    @Clause("core-003")
    void shouldAllocateNothingForNotifications() {
        Peer near = open(true);
        Peer far = open(false);
        connect(near, far);
        AllocationMeter.assertNone(
                1_000,
                () -> {
                    near.engine.requestNotification();
                    near.engine.clearNotification();
                    near.engine.progress();
                });
    }

    /** A list of three, with 100 bytes in all. */
    private static Buf list(Peer peer, int index, boolean data) {
        long at = 100_000 + 1000L * index;
        Buf head = data ? peer.data(at, 50) : peer.room(at, 50);
        head.chain(data ? peer.data(at + 100, 0) : peer.room(at + 100, 0));
        head.chain(data ? peer.data(at + 200, 50) : peer.room(at + 200, 200));
        return head;
    }

    private void exchange(
            int rounds,
            Peer near,
            Peer far,
            Task[] tasks,
            RdmaReceiveTask[] receives,
            int needed,
            Buf[] written) {
        for (int round = 0; round < rounds; round++) {
            ended = 0;
            for (int i = 0; i < needed; i++) {
                receives[i].submit();
            }
            for (Task task : tasks) {
                task.submit();
            }
            drive(near, far, tasks.length + needed);
            for (Buf head : written) {
                for (Buf element = head; element != null; element = element.nextInList()) {
                    element.resetDataLength();
                }
            }
        }
    }

    /** Progresses until so many tasks have ended, without an allocation. */
    private void drive(Peer near, Peer far, int tasks) {
        long start = System.nanoTime();
        while (ended < tasks) {
            boolean moved = near.engine.progress();
            moved |= far.engine.progress();
            if (!moved && System.nanoTime() - start > Patience.DEADLINE.toNanos()) {
                throw new AssertionError("nothing moves: ended=" + ended);
            }
        }
    }

    private static void failed(Task task) {
        throw new AssertionError("task failed: " + task.status());
    }

    /** Batch of each type of task, reused. */
    private final class Load {
        private final Peer near;
        private final Peer far;
        private final RdmaSendTask[] sends = new RdmaSendTask[BATCH];
        private final RdmaReceiveTask[] receives = new RdmaReceiveTask[BATCH];
        private final RdmaReadTask[] reads = new RdmaReadTask[BATCH];
        private final RdmaWriteTask[] writes = new RdmaWriteTask[BATCH];
        private final Buf[] destinations = new Buf[3 * BATCH];
        private final Buf[] sources = new Buf[3 * BATCH];

        Load(Peer near, Peer far, RdmaConnection toFar, Mmap remote) {
            this.near = near;
            this.far = far;
            for (int i = 0; i < BATCH; i++) {
                Buf received = far.room(i * 64L, 64);
                Buf read = near.room(10_000 + i * 64L, 64);
                Buf written = near.inventory.bufByAddress(remote, 20_000 + i * 4096L, 4096);
                destinations[3 * i] = received;
                destinations[3 * i + 1] = read;
                destinations[3 * i + 2] = written;
                sources[3 * i] = near.data(i * 64L, 64);
                sources[3 * i + 1] = near.inventory.bufByData(remote, i * 64L, 64);
                sources[3 * i + 2] = near.data(100_000 + i * 4096L, 4096);
                sends[i] = near.rdma.allocateSend(toFar, sources[3 * i]);
                receives[i] = far.rdma.allocateReceive(received);
                reads[i] = near.rdma.allocateRead(toFar, sources[3 * i + 1], read);
                writes[i] = near.rdma.allocateWrite(toFar, sources[3 * i + 2], written);
            }
        }

        void run(int rounds) {
            for (int round = 0; round < rounds; round++) {
                ended = 0;
                for (int i = 0; i < BATCH; i++) {
                    receives[i].submit();
                    writes[i].submit();
                    sends[i].submit();
                    reads[i].submit();
                }
                drive(near, far, 4 * BATCH);
                for (int i = 0; i < 3 * BATCH; i++) {
                    destinations[i].resetDataLength();
                }
            }
        }

        void free() {
            for (int i = 0; i < BATCH; i++) {
                sends[i].free();
                receives[i].free();
                reads[i].free();
                writes[i].free();
            }
            for (int i = 0; i < 3 * BATCH; i++) {
                destinations[i].release();
                sources[i].release();
            }
        }
    }
}
