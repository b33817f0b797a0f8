package io.softdpu.benchmarks;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaFetchAndAddTask;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.rdma.RdmaWriteTask;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Operations over shared memory; both sides on one thread, with an engine each.
 *
 * <p>A request as a storage target serves it: a send of 64 bytes, a write of as many into the
 * memory of the client, and a send of 64 bytes as the answer. And single operations from their
 * submission to their completion, 32 at a time: a write of 64 bytes, one of a list of four bufs of
 * 16 bytes, and a fetch and add.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class RdmaBenchmark {
    private static final int BATCH = 32;
    private static final int BYTES = 64;

    /** Marks a write that is no part of a request. */
    private static final int ALONE = -1;

    private static final int ELEMENTS = 4;
    private static final int SLOTS = 16 * BATCH;
    private static final int ROUNDS_PER_POLL = 1 << 16;

    private final BothSides sides = new BothSides();
    private final RdmaSendTask[] requests = new RdmaSendTask[BATCH];
    private final RdmaWriteTask[] writes = new RdmaWriteTask[BATCH];
    private final RdmaSendTask[] answers = new RdmaSendTask[BATCH];
    private final RdmaWriteTask[] singles = new RdmaWriteTask[BATCH];
    private final RdmaWriteTask[] lists = new RdmaWriteTask[BATCH];
    private final RdmaFetchAndAddTask[] adds = new RdmaFetchAndAddTask[BATCH];
    private Peer client;
    private Peer target;
    private int sent;
    private int answered;
    private int replied;
    private int served;
    private int done;

    /** One side: its memory, and an RDMA instance on an engine of its own. */
    private final class Peer {
        final Device device;
        final ProgressEngine engine;
        final Mmap mmap;
        final BufInventory inventory;
        final Rdma rdma;
        private int bufs;

        Peer(Side side, String deviceName) {
            Machine machine = sides.machine(side);
            device = sides.keep(machine.findDevice(deviceName).open());
            engine = sides.engine();
            SharedMemory memory = sides.keep(SharedMemory.allocate((long) SLOTS * BYTES));
            mmap = sides.keep(Mmap.create());
            inventory = sides.keep(BufInventory.create(SLOTS));
            mmap.setMemory(memory)
                    .setPermissions(
                            Permissions.of(
                                    AccessFlag.LOCAL_READ_WRITE,
                                    AccessFlag.RDMA_WRITE,
                                    AccessFlag.RDMA_ATOMIC))
                    .addDevice(device)
                    .start();
            inventory.start();
            rdma = Rdma.create(device);
            rdma.setPermissions(Permissions.of(AccessFlag.RDMA_WRITE, AccessFlag.RDMA_ATOMIC));
            rdma.setSendQueueSize(4 * BATCH);
        }

        void start() {
            engine.connect(rdma);
            rdma.start();
        }

        Buf data() {
            return sides.keep(inventory.bufByData(mmap, nextOffset(), BYTES));
        }

        Buf room() {
            return sides.keep(inventory.bufByAddress(mmap, nextOffset(), BYTES));
        }

        /** As many bytes in a list of bufs, by its head. */
        Buf list() {
            long offset = nextOffset();
            int bytes = BYTES / ELEMENTS;
            Buf head = sides.keep(inventory.bufByData(mmap, offset, bytes)); // releases all
            for (int i = 1; i < ELEMENTS; i++) {
                head.chain(inventory.bufByData(mmap, offset + (long) i * bytes, bytes));
            }
            return head;
        }

        private long nextOffset() {
            return (long) bufs++ * BYTES;
        }

        void receive() {
            rdma.allocateReceive(room()).submit();
        }
    }

    @Setup
    public void setUp() {
        client = new Peer(Side.DPU, "p0");
        target = new Peer(Side.TARGET, "t0");
        client.rdma.setSendTasks(BATCH, _ -> sent++, RdmaBenchmark::failed);
        client.rdma.setReceiveTasks(BATCH, this::answered, Task::free);
        target.rdma.setReceiveTasks(BATCH, this::requested, Task::free);
        target.rdma.setWriteTasks(3 * BATCH, this::written, RdmaBenchmark::failed);
        target.rdma.setFetchAndAddTasks(BATCH, _ -> done++, RdmaBenchmark::failed);
        target.rdma.setMaxSendBufferListLength(ELEMENTS);
        target.rdma.setSendTasks(BATCH, _ -> replied++, RdmaBenchmark::failed);
        client.start();
        target.start();
        RdmaConnection toTarget = client.rdma.exportConnection();
        RdmaConnection toClient = target.rdma.exportConnection();
        client.rdma.connect(toClient.blob(), toTarget);
        target.rdma.connect(toTarget.blob(), toClient);
        sides.until(() ->
                toTarget.state() == RdmaConnection.State.CONNECTED
                        && toClient.state() == RdmaConnection.State.CONNECTED);
        Mmap remote =
                sides.keep(
                        Mmap.createFromExport(
                                client.mmap.exportRdma(client.device), target.device));
        for (int i = 0; i < BATCH; i++) {
            client.receive();
            target.receive();
            requests[i] = client.rdma.allocateSend(toTarget, client.data());
            answers[i] = target.rdma.allocateSend(toClient, target.data());
            writes[i] = target.rdma.allocateWrite(toClient, target.data(), there(remote, 3, i));
            writes[i].setUserData(i);
            singles[i] = target.rdma.allocateWrite(toClient, target.data(), there(remote, 4, i));
            singles[i].setUserData(ALONE);
            lists[i] = target.rdma.allocateWrite(toClient, target.list(), there(remote, 5, i));
            lists[i].setUserData(ALONE);
            adds[i] =
                    target.rdma.allocateFetchAndAdd(
                            toClient, there(remote, 6, i), target.room(), 1);
        }
        sides.keep(this::stop);
    }

    private Buf there(Mmap remote, int batch, int i) {
        long offset = ((long) batch * BATCH + i) * BYTES;
        return sides.keep(target.inventory.bufByAddress(remote, offset, BYTES));
    }

    @TearDown
    public void tearDown() throws Exception {
        sides.close();
    }

    /** 32 requests are submitted, then both engines make progress until all are answered. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void requestAndAnswer() {
        sent = 0;
        served = 0;
        answered = 0;
        replied = 0;
        for (RdmaSendTask request : requests) {
            submit(request);
        }
        long deadline = 0;
        int rounds = 0;
        while (sent < BATCH || answered < BATCH || replied < BATCH) {
            client.engine.progress();
            target.engine.progress();
            if (++rounds % ROUNDS_PER_POLL == 0) { // a batch takes a few: the clock stays outside
                deadline = BothSides.requireInTime(deadline, this::late);
            }
        }
    }

    /** 32 writes of 64 bytes are submitted, then the engine makes progress until all are done. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void write() {
        writeAll(singles);
    }

    /** As {@link #write}, each of a list of four bufs. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void writeListOfFour() {
        writeAll(lists);
    }

    /** As {@link #write}, of fetch and add. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void fetchAndAdd() {
        done = 0;
        for (RdmaFetchAndAddTask add : adds) {
            add.result().resetDataLength();
            submit(add);
        }
        awaitDone();
    }

    private void writeAll(RdmaWriteTask[] tasks) {
        done = 0;
        for (RdmaWriteTask write : tasks) {
            write.destination().resetDataLength();
            submit(write);
        }
        awaitDone();
    }

    private void awaitDone() {
        long deadline = 0;
        int rounds = 0;
        while (done < BATCH) {
            target.engine.progress();
            if (++rounds % ROUNDS_PER_POLL == 0) {
                deadline = BothSides.requireInTime(deadline, () -> "not done: done=" + done);
            }
        }
    }

    private void requested(RdmaReceiveTask task) {
        again(task);
        RdmaWriteTask write = writes[served++];
        write.destination().resetDataLength();
        submit(write);
    }

    private void written(RdmaWriteTask task) {
        if (task.userData() == ALONE) {
            done++;
        } else {
            submit(answers[(int) task.userData()]);
        }
    }

    private void answered(RdmaReceiveTask task) {
        answered++;
        again(task);
    }

    private static void again(RdmaReceiveTask task) {
        task.destination().resetDataLength();
        submit(task);
    }

    private static void submit(Task task) {
        Status status = task.trySubmit();
        if (status != Status.SUCCESS) {
            throw new IllegalStateException("not submitted: status=" + status);
        }
    }

    private static void failed(Task task) {
        throw new IllegalStateException("task has failed: status=" + task.status());
    }

    private String late() {
        return "requests are not answered: sent=" + sent + ", answered=" + answered;
    }

    private void stop() {
        for (int i = 0; i < BATCH; i++) {
            requests[i].free();
            writes[i].free();
            answers[i].free();
            singles[i].free();
            lists[i].free();
            adds[i].free();
        }
        sides.stop(target.rdma);
        sides.stop(client.rdma);
    }
}
