package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.TinyContext.TinyTask;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufArray;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.BufPool;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.MemoryRight;
import io.softdpu.core.spi.Regions;
import io.softdpu.linux.Doorbell;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.UnixSocket;
import io.softdpu.testkit.AllocationMeter;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ZeroAllocationTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int ROUNDS = 50_000;
    private static final Duration MILLI = Duration.ofMillis(1);
    private static final Duration HALF_A_MILLI = Duration.ofNanos(500_000);

    @TempDir Path folder;
    private Machines machines;
    private Device device;
    private ProgressEngine engine;
    private TinyContext context;
    private Mmap mmap;
    private BufInventory inventory;
    private int completed;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        device = machines.device(Side.HOST, "pf0");
        engine = machines.add(ProgressEngine.create());
        context = machines.add(new TinyContext(device));
        context.recording = false;
        engine.connect(context);
        context.start();
        SharedMemory memory = machines.add(SharedMemory.allocate(4096));
        mmap =
                machines.add(
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(
                                        Permissions.of(
                                                AccessFlag.LOCAL_READ_WRITE,
                                                AccessFlag.PCI_READ_WRITE))
                                .addDevice(device)
                                .start());
        inventory = machines.add(BufInventory.create(8));
        inventory.start();
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    @Test
    @Clause("core-003")
    void shouldWaitForAConditionWithoutAllocationPerPass() {
        long least = Long.MAX_VALUE;
        for (int measured = 0; measured < 20 && least > 0; measured++) {
            long[] counts = new long[2]; // passes, and bytes allocated
            engine.runUntil(
                    () -> {
                        engine.wake(); // or it would sleep
                        counts[0]++;
                        if (counts[0] == 1) {
                            counts[1] = -THREADS.getCurrentThreadAllocatedBytes();
                        } else if (counts[0] == ROUNDS) {
                            counts[1] += THREADS.getCurrentThreadAllocatedBytes();
                        }
                        return counts[0] == ROUNDS;
                    },
                    Patience.LIMIT,
                    context);
            least = Math.min(least, counts[1]);
        }
        assertThat(least).as("bytes in %d passes", ROUNDS).isZero();
    }

    @Test
    @Clause({"core-003", "core-070"})
    void shouldTakeAndReturnBufsWithoutAllocation() {
        AllocationMeter.assertNone(
                ROUNDS,
                () -> {
                    Buf buf = inventory.bufByAddress(mmap, 64, 128);
                    Buf twin = inventory.duplicate(buf);
                    twin.setData(80, 4);
                    buf.reuseByData(mmap, 0, 64);
                    buf.resetDataLength();
                    Regions.markSource(buf, 1);
                    Regions.appendData(buf, 8);
                    Regions.clearInFlight(buf);
                    twin.release();
                    buf.release();
                });
        assertThat(inventory.free()).isEqualTo(8);
    }

    @Test
    @Clause("core-003")
    void shouldFindThatNoTaskIsFreeWithoutAllocation() {
        List<TinyTask> tasks = new ArrayList<>();
        while (context.pool().available() > 0) {
            tasks.add(context.allocate());
        }
        AllocationMeter.assertNone(
                ROUNDS,
                () -> {
                    if (context.pool().tryAllocate() != null) {
                        throw new AssertionError("a task of a pool without one");
                    }
                });
        tasks.forEach(TinyTask::free);
    }

    @Test
    @Clause("core-070")
    void shouldTakeEachBufForTheFirstTimeWithoutAllocation() {
        takeAll(); // loads classes
        assertThat(LongStream.generate(this::takeAll).limit(5).min()).hasValue(0);
    }

    /** Bytes allocated while each buf of a new inventory and of a new pool is taken. */
    private long takeAll() {
        int count = 4096;
        BufInventory first = machines.add(BufInventory.create(count).start());
        BufPool pool = machines.add(BufPool.create(count, 1, mmap).start());
        Buf[] taken = new Buf[2 * count];
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < count; i++) {
            taken[i] =
                    switch (i % 3) {
                        case 0 -> first.bufByAddress(mmap, i, 1);
                        case 1 -> first.bufByData(mmap, i, 1);
                        default -> first.bufByArgs(mmap, 0, i, i - 1, 1);
                    };
            taken[count + i] = pool.allocate();
        }
        long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
        for (Buf buf : taken) {
            buf.release();
        }
        return allocated;
    }

    @Test
    @Clause({"core-003", "core-070"})
    void shouldTakeFromAPoolAndChainWithoutAllocation() {
        BufPool pool = machines.add(BufPool.create(4, 64, mmap).start());
        BufArray array = machines.add(BufArray.create(1).setMemory(mmap, 64, 1024).start());
        MemoryRight right = new MemoryRight(device, Permissions.LOCAL_READ_WRITE);
        AllocationMeter.assertNone(
                ROUNDS,
                () -> {
                    Buf head = pool.allocate();
                    head.chain(pool.allocate());
                    Buf last = inventory.bufByAddress(mmap, 512, 64);
                    last.chain(array.get(0));
                    head.chain(last);
                    if (Refusal.statusOf(Regions.markDestination(head, 4)) != Status.SUCCESS
                            || Refusal.statusOf(right.check(head)) != Status.SUCCESS
                            || BufLists.tailroom(head) != 256) {
                        throw new AssertionError(head);
                    }
                    BufLists.appendData(head, 200);
                    Regions.clearInFlight(head);
                    array.get(0).resetDataLength();
                    head.unchain(last);
                    head.release();
                    last.release();
                });
        assertThat(pool.free()).isEqualTo(4);
        assertThat(inventory.free()).isEqualTo(8);
    }

    @Test
    @Clause("core-003")
    void shouldSubmitProgressAndCompleteTasksWithoutAllocation() {
        TinyContext.TinyCallback callback = task -> completed++;
        AllocationMeter.assertNone(
                ROUNDS,
                () -> {
                    TinyTask task = context.allocate();
                    task.setCallback(callback);
                    task.setUserData(7);
                    if (task.trySubmit() != Status.SUCCESS) {
                        throw new AssertionError(task.status());
                    }
                    engine.progress();
                    engine.progress();
                    task.free();
                });
        assertThat(completed).isGreaterThanOrEqualTo(2 * ROUNDS);
        assertThat(engine.hits()).isEqualTo(engine.misses()).isEqualTo(completed);
    }

    @Test
    @Clause("core-003")
    void shouldSubmitAndRetrieveJobsWithoutAllocation() {
        TinyJobs jobs = machines.add(new TinyJobs("tiny jobs", device));
        jobs.start();
        WorkQueue queue = machines.add(WorkQueue.create(2));
        queue.add(jobs);
        TinyJobs.TinyJob job = jobs.job();
        job.setSlices(2);
        JobEvent event = JobEvent.create();
        AllocationMeter.assertNone(
                ROUNDS,
                () -> {
                    if (queue.trySubmit(job) != Status.SUCCESS
                            || queue.progressRetrieve(event) != Status.AGAIN
                            || queue.progressRetrieve(event) != Status.SUCCESS) {
                        throw new AssertionError(event);
                    }
                });
    }

    @Test
    @Clause("core-003")
    void shouldSignalWorkOfAnEngineAndOfAQueueWithoutAllocation() {
        TinyJobs jobs = machines.add(new TinyJobs("tiny jobs", device));
        jobs.start();
        WorkQueue queue = machines.add(WorkQueue.create(2));
        queue.setEventDriven(true);
        queue.add(jobs);
        TinyJobs.TinyJob job = jobs.job();
        JobEvent event = JobEvent.create();
        TinyTask task = context.allocate();
        AllocationMeter.assertNone(
                ROUNDS,
                () -> {
                    engine.requestNotification();
                    task.submit();
                    boolean notified = engine.awaitNotification(Duration.ZERO);
                    engine.clearNotification();
                    boolean progressed = engine.progress();
                    queue.armEvent();
                    queue.submit(job);
                    boolean signalled = queue.awaitEvent(Duration.ZERO);
                    queue.clearEvent();
                    Status retrieved = queue.progressRetrieve(event);
                    if (!notified || !progressed || !signalled || retrieved != Status.SUCCESS) {
                        throw new AssertionError(event);
                    }
                });
        task.free();
    }

    @Test
    @Clause("core-003")
    void shouldCheckAndReachMemoryWithoutAllocation() {
        Device p0 = machines.device(Side.DPU, "p0");
        Mmap remote = machines.add(Mmap.createFromExport(mmap.exportPci(device), p0));
        Permissions needed = Permissions.of(AccessFlag.PCI_READ_WRITE);
        AllocationMeter.assertNone(
                ROUNDS,
                () -> {
                    if (Refusal.statusOf(Regions.checkUse(remote, p0, needed)) != Status.SUCCESS) {
                        throw new AssertionError("not usable");
                    }
                    Regions.memoryOf(remote).set(ValueLayout.JAVA_BYTE, 9, (byte) 1);
                });
    }

    @Test
    @Clause("core-003")
    void shouldWaitSleepAndWakeWithoutAllocation() {
        TinyTask task = context.allocate();
        Deadline deadline = Deadline.in(Duration.ofHours(1));
        AllocationMeter.assertNone(
                ROUNDS,
                () -> {
                    task.submit();
                    engine.await(MILLI);
                    engine.wake();
                    engine.await(deadline);
                    engine.wake();
                    engine.awaitUntil(System.nanoTime() + 1_000_000);
                });
        AllocationMeter.assertNone(25, () -> engine.await(HALF_A_MILLI));
        task.free();
    }

    @Test
    @Clause("core-003")
    void shouldServeDescriptorsAndTimersWithoutAllocation() {
        int[] pair = UnixSocket.pair();
        EngineTimer due = engine.timer(() -> completed++);
        EngineTimer far = engine.timer(() -> completed++);
        DescriptorWatch watch =
                engine.watch(
                        pair[0],
                        DescriptorWatch.READABLE,
                        (present, events) -> {
                            Doorbell.drain(present.descriptor());
                            completed++;
                        });
        try {
            AllocationMeter.assertNone(
                    ROUNDS,
                    () -> {
                        far.setAt(System.nanoTime() + 1_000_000_000);
                        due.set(Duration.ZERO);
                        Doorbell.ring(pair[1]);
                        int before = completed;
                        while (completed < before + 2) {
                            engine.progress();
                        }
                        far.cancel();
                    });
        } finally {
            watch.close();
            FileDescriptors.close(pair[0]);
            FileDescriptors.close(pair[1]);
        }
        assertThat(completed).isGreaterThanOrEqualTo(4 * ROUNDS);
    }
}
