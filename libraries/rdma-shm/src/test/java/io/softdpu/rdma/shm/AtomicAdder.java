package io.softdpu.rdma.shm;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCompareAndSwapTask;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaFetchAndAddTask;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * Process that increments a number in the memory of a peer: with many fetch and adds in flight, and
 * each eighth time by a compare and swap, repeated until it finds the number that it expects.
 * Arguments: folder, increments. It prints the blob of its connection, reads the peer's and the
 * blob of the memory, begins at the line {@code go}, and prints when its first increment is done.
 */
public final class AtomicAdder {
    static final String CONNECTION = "connection ";
    static final String CONNECTED = "connected";
    static final String BEGUN = "begun";
    static final String DONE = "done ";

    static final int SWAP_EACH = 8;
    private static final int WINDOW = 16;

    private final long increments;
    private final MemorySegment results;
    private long added;
    private long swapped;
    private long swapsTried;
    private long last = -1;

    private AtomicAdder(long increments, MemorySegment results) {
        this.increments = increments;
        this.results = results;
    }

    /** Runs until the increments are done. */
    public static void main(String[] arguments) throws Exception {
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        try (Machine machine =
                        Machine.builder(Side.TARGET).fabricFolder(Path.of(arguments[0])).open();
                Device device = machine.findDevice("t0").open();
                SharedMemory memory = SharedMemory.allocate(4096);
                Mmap mmap = Mmap.create();
                BufInventory inventory = BufInventory.create(4 * WINDOW);
                ProgressEngine engine = ProgressEngine.create();
                Rdma rdma = Rdma.create(device)) {
            mmap.setMemory(memory)
                    .setPermissions(Permissions.LOCAL_READ_WRITE)
                    .addDevice(device)
                    .start();
            inventory.start();
            AtomicAdder adder = new AtomicAdder(Long.parseLong(arguments[1]), memory.segment());
            rdma.setFetchAndAddTasks(WINDOW, adder::added, AtomicAdder::failed)
                    .setCompareAndSwapTasks(1, adder::swapped, AtomicAdder::failed);
            engine.connect(rdma);
            rdma.start();
            RdmaConnection connection = rdma.exportConnection();
            print(CONNECTION + HexFormat.of().formatHex(connection.blob()));
            rdma.connect(HexFormat.of().parseHex(input.readLine()), connection);
            byte[] exported = HexFormat.of().parseHex(input.readLine());
            engine.runUntil(() -> rdma.state() == ContextState.RUNNING, Patience.LIMIT, rdma);
            try (Mmap remote = Mmap.createFromExport(exported, device)) {
                print(CONNECTED);
                if (!"go".equals(input.readLine())) {
                    throw new AssertionError("not told to go");
                }
                List<Buf> bufs = adder.submit(rdma, connection, inventory, mmap, remote);
                engine.runUntil(() -> rdma.inFlightTasks() == 0, Patience.LIMIT, rdma);
                print(DONE + (adder.added + adder.swapped) + " swapsTried=" + adder.swapsTried);
                rdma.stop();
                Await.byStep("idle", () -> rdma.state() == ContextState.IDLE, engine::progress);
                bufs.forEach(Buf::release);
            }
            inventory.stop();
            mmap.stop();
        }
    }

    private static void print(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static void failed(Task task) {
        throw new AssertionError("task failed: " + task.status());
    }

    /** Submits the first tasks, which submit themselves again. */
    private List<Buf> submit(
            Rdma rdma, RdmaConnection connection, BufInventory inventory, Mmap mmap, Mmap remote) {
        List<Buf> bufs = new ArrayList<>();
        for (int i = 0; i < WINDOW; i++) {
            Buf there = inventory.bufByData(remote, 0, Long.BYTES);
            Buf here = inventory.bufByAddress(mmap, 8L * i, Long.BYTES);
            bufs.add(there);
            bufs.add(here);
            if (i == 0) {
                rdma.allocateCompareAndSwap(connection, there, here, 0, 1).submit();
            } else {
                rdma.allocateFetchAndAdd(connection, there, here, 1).submit();
            }
        }
        return bufs;
    }

    private long resultOf(Buf result) {
        long value = results.get(ValueLayout.JAVA_LONG, result.offset());
        result.resetDataLength();
        return value;
    }

    /** Increments of one process are in order: each finds a greater number than the one before. */
    private void added(RdmaFetchAndAddTask task) {
        long before = resultOf(task.result());
        if (before <= last) {
            throw new AssertionError("not increased: before=" + before + ", last=" + last);
        }
        last = before;
        added++;
        if (added == 1) {
            print(BEGUN);
        }
        // The tasks in flight will add as well.
        if (added + (WINDOW - 2) < increments * (SWAP_EACH - 1) / SWAP_EACH) {
            task.submit();
        } else {
            task.free();
        }
    }

    private void swapped(RdmaCompareAndSwapTask task) {
        long before = resultOf(task.result());
        swapsTried++;
        if (before == task.compareData()) {
            swapped++;
        }
        if (swapped < increments / SWAP_EACH) {
            long expected = before == task.compareData() ? before + 1 : before;
            Status status = task.setCompareData(expected).setSwapData(expected + 1).trySubmit();
            if (status != Status.SUCCESS) {
                throw new AssertionError("not submitted: " + status);
            }
        } else {
            task.free();
        }
    }
}
