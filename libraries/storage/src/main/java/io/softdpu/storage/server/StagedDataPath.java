package io.softdpu.storage.server;

import io.softdpu.block.BlockCapabilities;
import io.softdpu.block.BlockContext;
import io.softdpu.block.BlockDevice;
import io.softdpu.block.BlockReadTask;
import io.softdpu.block.BlockWriteTask;
import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.property.BlockProperties;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaReadTask;
import io.softdpu.rdma.RdmaTaskType;
import io.softdpu.rdma.RdmaWriteTask;
import io.softdpu.storage.wire.IoType;
import io.softdpu.storage.worker.Closeables;
import io.softdpu.storage.worker.RetryQueue;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Data path to a volume whose blocks are not memory of this process: bytes go through memory of the
 * worker. A request is divided into pieces, which are under way at once. Each has two tasks, one
 * after the other: a client's read reads the blocks, then writes them to its memory; a client's
 * write reads its memory, then writes the blocks.
 *
 * <p>Requests get memory in the order of their arrival: one for which there is none waits, and all
 * later ones behind it. The memory of a piece is free again when its last task has ended.
 */
final class StagedDataPath implements DataPath {
    /** State of a piece: the task that it has in flight, or that waits for a full work queue. */
    private enum State {
        READING_BLOCKS,
        WRITING_REMOTE,
        READING_REMOTE,
        WRITING_BLOCKS
    }

    /** Request of a slot. */
    private static final class Request {
        private final int slot;
        private boolean read;
        private long requesterOffset;
        private long storageOffset;

        /** Bytes behind those of the pieces that have begun; 0 after a failure. */
        private long leftBytes;

        /** Number of pieces that have begun and not ended. */
        private int pieces;

        /** SUCCESS, or the first failure of a piece. */
        private Status result = Status.SUCCESS;

        private Request(int slot) {
            this.slot = slot;
        }
    }

    /** Piece of a request, and bufs over the whole memories of both sides. */
    private static final class Piece {
        private final int index;
        private final Buf staged;
        private final Buf remote;
        private @Nullable Request request;
        private State state = State.READING_BLOCKS;

        /** Of its memory. */
        private long offset;

        private long storageOffset;
        private long sizeBytes;

        private Piece(int index, Buf staged, Buf remote) {
            this.index = index;
            this.staged = staged;
            this.remote = remote;
        }
    }

    private final TargetWorker worker;
    private final long pieceBytes;
    private final boolean readOnly;

    private final Request[] requests;

    /** Requests with bytes for which there was no memory, the oldest first. */
    private final ArrayDeque<Request> waiting;

    private final StagingMemory memory;
    private final BufInventory inventory;
    private final BlockContext blocks;
    private final Piece[] pieces;
    private final ArrayDeque<Piece> free;
    private final BlockReadTask[] blockReads;
    private final @Nullable BlockWriteTask[] blockWrites;
    private final RdmaReadTask[] remoteReads;
    private final RdmaWriteTask[] remoteWrites;
    private final RetryQueue blockQueue;
    private final RetryQueue remoteQueue;

    /** Whether pieces are being begun, some of which may fail at once. */
    private boolean beginning;

    /**
     * Creates memory and bufs, and starts a context of the volume.
     *
     * @param data the RDMA context of io_data, to be configured; the worker starts it
     * @param stagingBytes size of the memory, at least {@link StagingMemory#leastBytes}
     * @throws io.softdpu.core.DpuException NO_MEMORY naming the option if there is not as much
     */
    StagedDataPath(
            TargetWorker worker,
            Device device,
            BlockDevice volume,
            Mmap remoteMemory,
            Rdma data,
            int slots,
            long stagingBytes) {
        this.worker = worker;
        BlockProperties properties = volume.properties();
        pieceBytes = StagingMemory.pieceBytes(properties);
        readOnly = properties.has(BlockFeature.READ_ONLY);
        requests = IntStream.range(0, slots).mapToObj(Request::new).toArray(Request[]::new);
        waiting = new ArrayDeque<>(slots + 1);
        memory = new StagingMemory(device, properties, stagingBytes);
        int count = pieces(device, slots);
        pieces = new Piece[count];
        free = new ArrayDeque<>(count + 1);
        blockReads = new BlockReadTask[count];
        blockWrites = new BlockWriteTask[count];
        remoteReads = new RdmaReadTask[count];
        remoteWrites = new RdmaWriteTask[count];
        inventory = BufInventory.create(2 * count);
        // One more than pieces: one that fails in a retry may begin again before it is removed.
        blockQueue = worker.retryQueue(count + 1, this::trySubmit);
        remoteQueue = worker.retryQueue(count + 1, this::trySubmit);
        try {
            inventory.start();
            for (int i = 0; i < count; i++) {
                Buf staged = bufOver(memory.mmap());
                pieces[i] = new Piece(i, staged, bufOver(remoteMemory));
                free.add(pieces[i]);
            }
            data.setSendQueueSize(count);
            data.setReadTasks(count, this::remoteRead, this::remoteFailed);
            data.setWriteTasks(count, this::remoteWritten, this::remoteFailed);
            blocks = worker.manage(volume.createContext());
            blocks.setReadTasks(count, this::blocksRead, this::blocksFailed);
            if (!readOnly) {
                blocks.setWriteTasks(count, this::blocksWritten, this::blocksFailed);
            }
            blocks.start();
        } catch (RuntimeException | Error e) {
            Closeables.afterFailure(e, this);
            throw e;
        }
    }

    /**
     * Number of pieces that can be under way: the last one of each request may be short, the others
     * are not.
     */
    private int pieces(Device device, int slots) {
        RdmaCapabilities rdma = RdmaCapabilities.of(device.info());
        return IntStream.of(
                        memory.maxPieces(),
                        slots + memory.maxPieces(pieceBytes),
                        BlockCapabilities.of(device.info()).maxTasks(),
                        rdma.maxTasks(RdmaTaskType.READ),
                        rdma.maxTasks(RdmaTaskType.WRITE),
                        rdma.maxSendQueueSize())
                .min()
                .orElseThrow();
    }

    private Buf bufOver(Mmap mmap) {
        return inventory.bufByAddress(mmap, 0, mmap.sizeBytes());
    }

    @Override
    public void prepareTasks(RdmaConnection connection) {
        Rdma data = connection.context();
        for (int i = 0; i < pieces.length; i++) {
            Buf staged = pieces[i].staged;
            Buf remote = pieces[i].remote;
            blockReads[i] = tracked(blocks.allocateRead(0, 0, staged), i);
            if (!readOnly) {
                blockWrites[i] = tracked(blocks.allocateWrite(0, staged), i);
            }
            remoteReads[i] = tracked(data.allocateRead(connection, remote, staged), i);
            remoteWrites[i] = tracked(data.allocateWrite(connection, staged, remote), i);
        }
    }

    private <T extends Task> T tracked(T task, int piece) {
        task.setUserData(piece);
        return worker.track(task);
    }

    // ---- requests

    @Override
    public void begin(
            int slot, IoType type, long sizeBytes, long requesterOffset, long storageOffset) {
        boolean read = type == IoType.READ;
        if (readOnly && !read) {
            worker.answer(slot, Status.NOT_PERMITTED);
            return;
        }
        Request request = requests[slot];
        request.read = read;
        request.requesterOffset = requesterOffset;
        request.storageOffset = storageOffset;
        request.leftBytes = sizeBytes;
        request.result = Status.SUCCESS;
        waiting.add(request);
        beginPieces();
    }

    /** Begins as many pieces as there is memory for. */
    private void beginPieces() {
        if (beginning) {
            return;
        }
        beginning = true;
        boolean room = true;
        while (room && !waiting.isEmpty()) {
            Request oldest = waiting.element();
            while (room && oldest.leftBytes > 0) {
                room = beginPiece(oldest);
            }
            if (oldest.leftBytes == 0) {
                waiting.remove();
            }
        }
        beginning = false;
    }

    /** Begins the next piece of a request; false if there is no memory for it. */
    private boolean beginPiece(Request request) {
        long sizeBytes = Math.min(request.leftBytes, pieceBytes);
        long offset = free.isEmpty() ? StagingMemory.NO_ROOM : memory.take(sizeBytes);
        if (offset == StagingMemory.NO_ROOM) {
            return false;
        }
        Piece piece = free.remove();
        piece.request = request;
        piece.offset = offset;
        piece.sizeBytes = sizeBytes;
        piece.storageOffset = request.storageOffset;
        // Data selects the bytes of a source; an empty one, the offset in a destination.
        piece.staged.setData(offset, 0);
        piece.remote.setData(request.requesterOffset, request.read ? 0 : sizeBytes);
        request.requesterOffset += sizeBytes;
        request.storageOffset += sizeBytes;
        request.leftBytes -= sizeBytes;
        request.pieces++;
        if (request.read) {
            submit(piece, State.READING_BLOCKS, blockQueue);
        } else {
            submit(piece, State.READING_REMOTE, remoteQueue);
        }
        return true;
    }

    /**
     * A piece has ended: its request has, if that was its last one.
     *
     * @param result SUCCESS, or the failure of one of its tasks
     */
    private void ended(Piece piece, Status result) {
        Request request = Objects.requireNonNull(piece.request, "a request of a piece");
        memory.giveBack(piece.offset, piece.sizeBytes);
        free.addFirst(piece);
        request.pieces--;
        if (result != Status.SUCCESS && request.result == Status.SUCCESS) {
            request.result = result;
            request.leftBytes = 0;
        }
        // Before its next piece begins, which may end at once, and the request with it.
        boolean last = request.pieces == 0 && request.leftBytes == 0;
        beginPieces();
        if (last) {
            worker.answer(request.slot, request.result);
        }
    }

    // ---- tasks of pieces

    private static void submit(Piece piece, State state, RetryQueue queue) {
        piece.state = state;
        queue.submit(piece.index);
    }

    /**
     * Submits the task of a piece; false if its work queue is full. Other failures end the piece.
     */
    private boolean trySubmit(int index) {
        Piece piece = pieces[index];
        Status status =
                switch (piece.state) {
                    case READING_BLOCKS ->
                            blockReads[index]
                                    .setRange(piece.storageOffset, piece.sizeBytes)
                                    .trySubmit();
                    case WRITING_REMOTE -> remoteWrites[index].trySubmit();
                    case READING_REMOTE -> remoteReads[index].trySubmit();
                    case WRITING_BLOCKS ->
                            blockWrites[index].setOffset(piece.storageOffset).trySubmit();
                };
        if (status == Status.AGAIN) {
            return false;
        }
        if (status != Status.SUCCESS) {
            ended(piece, status);
        }
        return true;
    }

    private void blocksRead(BlockReadTask task) {
        if (!isOver()) {
            submit(pieceOf(task), State.WRITING_REMOTE, remoteQueue);
        }
    }

    private void remoteRead(RdmaReadTask task) {
        if (!isOver()) {
            submit(pieceOf(task), State.WRITING_BLOCKS, blockQueue);
        }
    }

    private void remoteWritten(RdmaWriteTask task) {
        if (!isOver()) {
            ended(pieceOf(task), Status.SUCCESS);
        }
    }

    private void blocksWritten(BlockWriteTask task) {
        if (!isOver()) {
            ended(pieceOf(task), Status.SUCCESS);
        }
    }

    private void blocksFailed(Task task) {
        if (!isOver()) {
            ended(pieceOf(task), task.status());
        }
    }

    private void remoteFailed(Task task) {
        if (!worker.endsSession(task.status())) {
            ended(pieceOf(task), task.status());
        }
    }

    /** Whether no further task is submitted: the worker has failed, or its contexts stop. */
    private boolean isOver() {
        return worker.isStopping() || worker.failure() != null;
    }

    private Piece pieceOf(Task task) {
        return pieces[(int) task.userData()];
    }

    @Override
    public void close() {
        for (@Nullable Piece piece : pieces) {
            if (piece != null) { // null if creating the bufs failed
                piece.staged.release();
                piece.remote.release();
            }
        }
        Closeables.inOrder(inventory, memory);
    }
}
