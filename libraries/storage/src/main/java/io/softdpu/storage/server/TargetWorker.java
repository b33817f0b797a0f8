package io.softdpu.storage.server;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
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
 * Data path thread of the target: messages, and the slots of requests. A request is received on
 * io_control, copied from its message and checked; a {@link DataPath} moves its bytes, on io_data;
 * then the response is sent in the message of the request.
 */
final class TargetWorker extends Worker {
    private final Device device;
    private final String provider;
    private final BlockDevice volume;
    private final Mmap remoteMemory;
    private final long stagingBytes;
    private final RequestCheck check;
    private final int slots;

    private @Nullable MessageMemory messages;
    private @Nullable RdmaPair rdma;
    private @Nullable DataPath dataPath;
    private RdmaReceiveTask[] receives = {};
    private RdmaSendTask[] sends = {};

    /** Of each slot: READ or WRITE, or RESULT for a request that was refused. */
    private IoType[] types = {};

    private long[] ioSizes = {};
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
            long stagingBytes,
            long controlTimeoutNanos,
            Runnable notifyControl) {
        super("target", slot, controlTimeoutNanos, notifyControl);
        this.device = device;
        this.provider = provider;
        this.volume = volume;
        this.remoteMemory = remoteMemory;
        this.stagingBytes = stagingBytes;
        this.slots = transactionCount;
        this.answerQueue = retryQueue(slots, this::tryAnswer);
        this.check =
                new RequestCheck(
                        volume.properties().sizeBytes(),
                        volume.properties().blockSizeBytes(),
                        remoteMemory.sizeBytes(),
                        RequestCheck.maxIoSizeBytes(device.info()));
    }

    // ---- commands of the configuration phase

    /** Creates the memory, the bufs and the contexts, and starts the latter. */
    void createObjects(long timeoutNanos) {
        messages = new MessageMemory(device, slots, Permissions.of(AccessFlag.LOCAL_READ_WRITE));
        RdmaPair pair = new RdmaPair(manage(Rdma.create(device)), manage(Rdma.create(device)));
        rdma = pair;
        pair.setProvider(provider);
        dataPath = createDataPath(pair.context(RdmaConnectionRole.IO_DATA));
        pair.configureMessages(
                slots,
                this::answered,
                this::notAnswered,
                this::requestReceived,
                this::requestNotReceived);
        pair.start(timeoutNanos);
    }

    private DataPath createDataPath(Rdma data) {
        Mmap blocks = volume.memory();
        return blocks == null
                ? new StagedDataPath(this, device, volume, remoteMemory, data, slots, stagingBytes)
                : new InPlaceDataPath(this, blocks, remoteMemory, data, slots);
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
        require(dataPath).prepareTasks(require(rdma).connection(RdmaConnectionRole.IO_DATA));
        RdmaConnection control = require(rdma).connection(RdmaConnectionRole.IO_CONTROL);
        servedBy(require(rdma));
        receives = new RdmaReceiveTask[slots];
        sends = new RdmaSendTask[slots];
        types = new IoType[slots];
        ioSizes = new long[slots];
        for (int i = 0; i < slots; i++) {
            receives[i] = track(control.context().allocateReceive(memory.buf(i)));
            receives[i].setUserData(i);
            sends[i] = track(control.context().allocateSend(control, memory.buf(i)));
            sends[i].setUserData(i);
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
        ioSizes[slot] = ioSize;
        require(dataPath).begin(slot, types[slot], ioSize, requesterOffset, storageOffset);
    }

    /**
     * Whether a failed RDMA task leaves no request to answer: contexts stop, or the end of the peer
     * fails the worker.
     */
    boolean endsSession(Status status) {
        if (isStopping()) {
            return true;
        }
        if (status == Status.CONNECTION_RESET || status == Status.CONNECTION_ABORTED) {
            taskFailed("data was not transferred", status);
            return true;
        }
        return false;
    }

    /** Answers a request, whose bytes have been moved, or none of which is any more. */
    void answer(int slot, Status result) {
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
        Closeables.inOrder(dataPath, messages);
    }
}
