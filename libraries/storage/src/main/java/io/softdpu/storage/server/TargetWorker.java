package io.softdpu.storage.server;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaReadTask;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.rdma.RdmaWriteTask;
import io.softdpu.storage.wire.Blob;
import io.softdpu.storage.wire.IoMessageView;
import io.softdpu.storage.wire.IoType;
import io.softdpu.storage.wire.RdmaConnectionRole;
import io.softdpu.storage.worker.Closeables;
import io.softdpu.storage.worker.Counter;
import io.softdpu.storage.worker.MessageMemory;
import io.softdpu.storage.worker.RdmaPair;
import io.softdpu.storage.worker.RetryQueue;
import io.softdpu.storage.worker.Worker;
import io.softdpu.storage.worker.WorkerSlot;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Data path thread of the target. A request is received on io_control, copied from its message and
 * checked; a client's read is executed by an RDMA write into its memory, a client's write by an
 * RDMA read from it, on io_data; then the response is sent in the message of the request.
 *
 * <p>Each slot has one message, a buf over the whole volume and one over the whole memory of the
 * initiator; the data sections of the two bufs select the bytes of a request.
 */
final class TargetWorker extends Worker {
    private final Device device;
    private final String provider;
    private final BlockDevice volume;
    private final Mmap remoteMemory;
    private final RequestCheck check;
    private final int slots;

    private @Nullable MessageMemory messages;
    private @Nullable BufInventory inventory;
    private @Nullable RdmaPair rdma;
    private Buf[] volumeBufs = {};
    private Buf[] remoteBufs = {};
    private RdmaReceiveTask[] receives = {};
    private RdmaSendTask[] sends = {};
    private RdmaReadTask[] reads = {};
    private RdmaWriteTask[] writes = {};

    /** Of each slot: READ or WRITE, or RESULT for a request that was refused. */
    private IoType[] types = {};

    private long[] ioSizes = {};
    private final RetryQueue transferQueue;
    private final RetryQueue answerQueue;
    private int inFlight;
    private final Counter requests = new Counter();

    TargetWorker(
            WorkerSlot slot,
            Device device,
            BlockDevice volume,
            Mmap remoteMemory,
            String provider,
            int transactionCount,
            long controlTimeoutNanos,
            Runnable notifyControl) {
        super("target", slot, controlTimeoutNanos, notifyControl);
        this.device = device;
        this.provider = provider;
        this.volume = volume;
        this.remoteMemory = remoteMemory;
        this.slots = transactionCount;
        this.transferQueue = retryQueue(slots, this::tryTransfer);
        this.answerQueue = retryQueue(slots, this::tryAnswer);
        this.check =
                new RequestCheck(
                        volume.properties().sizeBytes(),
                        volume.properties().blockSizeBytes(),
                        remoteMemory.sizeBytes(),
                        RequestCheck.maxIoSizeBytes(device.info()));
    }

    // ---- commands of the configuration phase

    /** Creates the memory, the bufs and the two RDMA contexts, and starts the latter. */
    void createObjects(long timeoutNanos) {
        messages = new MessageMemory(device, slots, Permissions.of(AccessFlag.LOCAL_READ_WRITE));
        BufInventory created = BufInventory.create(2 * slots);
        created.start();
        inventory = created;
        Mmap blocks = require(volume.memory());
        volumeBufs = new Buf[slots];
        remoteBufs = new Buf[slots];
        for (int i = 0; i < slots; i++) {
            volumeBufs[i] = created.bufByAddress(blocks, 0, blocks.sizeBytes());
            remoteBufs[i] = created.bufByAddress(remoteMemory, 0, remoteMemory.sizeBytes());
        }
        RdmaPair pair = new RdmaPair(manage(Rdma.create(device)), manage(Rdma.create(device)));
        rdma = pair;
        pair.setProvider(provider);
        Rdma data = pair.context(RdmaConnectionRole.IO_DATA);
        data.setSendQueueSize(slots);
        data.setReadTasks(slots, this::read, this::notRead);
        data.setWriteTasks(slots, this::written, this::notWritten);
        pair.configureMessages(
                slots,
                this::answered,
                this::notAnswered,
                this::requestReceived,
                this::requestNotReceived);
        pair.start(timeoutNanos);
    }

    /** Exports one of the connections and connects it to the service's. */
    Blob connect(RdmaConnectionRole role, Blob details) {
        RdmaPair pair = require(rdma);
        Blob local = pair.export(role);
        pair.connect(role, details);
        return local;
    }

    /** Allocates all tasks; their user data is the index of their slot. */
    void prepareTasks() {
        MessageMemory memory = require(messages);
        RdmaConnection data = require(rdma).connection(RdmaConnectionRole.IO_DATA);
        RdmaConnection control = require(rdma).connection(RdmaConnectionRole.IO_CONTROL);
        servedBy(require(rdma));
        receives = new RdmaReceiveTask[slots];
        sends = new RdmaSendTask[slots];
        reads = new RdmaReadTask[slots];
        writes = new RdmaWriteTask[slots];
        types = new IoType[slots];
        ioSizes = new long[slots];
        for (int i = 0; i < slots; i++) {
            receives[i] = track(control.context().allocateReceive(memory.buf(i)));
            receives[i].setUserData(i);
            sends[i] = track(control.context().allocateSend(control, memory.buf(i)));
            sends[i].setUserData(i);
            reads[i] = track(data.context().allocateRead(data, remoteBufs[i], volumeBufs[i]));
            reads[i].setUserData(i);
            writes[i] = track(data.context().allocateWrite(data, volumeBufs[i], remoteBufs[i]));
            writes[i].setUserData(i);
        }
    }

    /** Number of requests received from the service. Any thread. */
    long requests() {
        return requests.get();
    }

    // ---- the data path

    @Override
    protected void beginDataPath() {
        for (RdmaReceiveTask receive : receives) {
            receive.submit();
        }
    }

    @Override
    protected int inFlight() {
        return inFlight;
    }

    private void requestReceived(RdmaReceiveTask task) {
        inFlight++;
        requests.add(1);
        int slot = (int) task.userData();
        MessageMemory memory = require(messages);
        MemorySegment segment = memory.segment();
        long at = memory.at(slot);
        if (task.resultLength() != IoMessageView.WIRE_BYTES) {
            // The rest of the 64 bytes belongs to an earlier request and must not be echoed.
            IoMessageView.write(segment, at, 0, -1, 0, 0, 0, 0);
            types[slot] = IoType.RESULT;
            answer(slot, Status.INVALID_VALUE);
            return;
        }
        int type = IoMessageView.type(segment, at);
        long ioSize = IoMessageView.ioSizeBytes(segment, at);
        long requesterOffset = IoMessageView.requesterOffset(segment, at);
        long storageOffset = IoMessageView.storageOffset(segment, at);
        Status verdict = check.check(type, ioSize, requesterOffset, storageOffset);
        types[slot] = kind(type);
        if (verdict != Status.SUCCESS) {
            answer(slot, verdict);
            return;
        }
        boolean read = types[slot] == IoType.READ;
        ioSizes[slot] = ioSize;
        // The source's data section selects the bytes; the empty one of the destination, the
        // offset.
        volumeBufs[slot].setData(storageOffset, read ? ioSize : 0);
        remoteBufs[slot].setData(requesterOffset, read ? 0 : ioSize);
        transferQueue.submit(slot);
    }

    /**
     * Submits the transfer; false if the queue is full. Any other failure is the request's result.
     */
    private boolean tryTransfer(int slot) {
        Status status =
                types[slot] == IoType.READ ? writes[slot].trySubmit() : reads[slot].trySubmit();
        if (status == Status.AGAIN) {
            return false;
        }
        if (status != Status.SUCCESS) {
            answer(slot, status);
        }
        return true;
    }

    private void written(RdmaWriteTask task) {
        answer((int) task.userData(), Status.SUCCESS);
    }

    private void read(RdmaReadTask task) {
        answer((int) task.userData(), Status.SUCCESS);
    }

    private void notWritten(RdmaWriteTask task) {
        transferFailed((int) task.userData(), task.status());
    }

    private void notRead(RdmaReadTask task) {
        transferFailed((int) task.userData(), task.status());
    }

    /**
     * Handles a failed transfer: the result of the request, except the end of the peer, which fails
     * the worker.
     */
    private void transferFailed(int slot, Status status) {
        if (isStopping()) {
            return;
        }
        if (status == Status.CONNECTION_RESET || status == Status.CONNECTION_ABORTED) {
            taskFailed("data was not transferred", status);
        } else {
            answer(slot, status);
        }
    }

    private void answer(int slot, Status result) {
        if (result != Status.SUCCESS) {
            errors.add(1);
            ioSizes[slot] = 0; // moved nothing
        }
        MessageMemory memory = require(messages);
        IoMessageView.writeResult(memory.segment(), memory.at(slot), result.code());
        memory.fill(slot);
        answerQueue.submit(slot);
    }

    private boolean tryAnswer(int slot) {
        return isAccepted(sends[slot].trySubmit(), "answer could not be sent");
    }

    private void answered(RdmaSendTask task) {
        inFlight--;
        int slot = (int) task.userData();
        completed(types[slot], ioSizes[slot]);
        require(messages).clear(slot);
        requireAccepted(receives[slot].trySubmit(), "request could not be awaited");
    }

    private void notAnswered(RdmaSendTask task) {
        taskFailed("answer was not sent", task.status());
    }

    /** RESULT for a request of an unknown kind. */
    private static IoType kind(int type) {
        if (type == IoType.READ.code()) {
            return IoType.READ;
        }
        return type == IoType.WRITE.code() ? IoType.WRITE : IoType.RESULT;
    }

    private void requestNotReceived(RdmaReceiveTask task) {
        taskFailed("request was not received", task.status());
    }

    // ---- objects

    @Override
    protected void releaseObjects() {
        releaseAll(volumeBufs);
        releaseAll(remoteBufs);
        Closeables.inOrder(inventory, messages);
    }

    /** Releases all bufs; elements are null if their creation failed. */
    private static void releaseAll(@Nullable Buf[] bufs) {
        for (Buf buf : bufs) {
            if (buf != null) {
                buf.release();
            }
        }
    }
}
