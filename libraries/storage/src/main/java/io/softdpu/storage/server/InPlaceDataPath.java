package io.softdpu.storage.server;

import io.softdpu.core.Status;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaReadTask;
import io.softdpu.rdma.RdmaWriteTask;
import io.softdpu.storage.wire.IoType;
import io.softdpu.storage.worker.Closeables;
import io.softdpu.storage.worker.RetryQueue;
import org.jspecify.annotations.Nullable;

/**
 * Data path to a volume whose blocks are memory of this process: a client's read is executed by an
 * RDMA write of the blocks into its memory, a client's write by an RDMA read from it.
 *
 * <p>Each slot has a buf over the whole volume and one over the whole memory of the initiator; the
 * data sections of the two bufs select the bytes of a request.
 */
final class InPlaceDataPath implements DataPath {
    private final TargetWorker worker;
    private final RetryQueue transferQueue;
    private final BufInventory inventory;
    private final Buf[] volumeBufs;
    private final Buf[] remoteBufs;
    private final RdmaReadTask[] reads;
    private final RdmaWriteTask[] writes;

    /** Of each slot: whether the initiator reads. */
    private final boolean[] reading;

    /**
     * Creates the bufs.
     *
     * @param blocks those of the volume
     * @param data the RDMA context of io_data, to be configured; the worker starts it
     */
    InPlaceDataPath(TargetWorker worker, Mmap blocks, Mmap remoteMemory, Rdma data, int slots) {
        this.worker = worker;
        transferQueue = worker.retryQueue(slots, this::tryTransfer);
        inventory = BufInventory.create(2 * slots);
        volumeBufs = new Buf[slots];
        remoteBufs = new Buf[slots];
        reads = new RdmaReadTask[slots];
        writes = new RdmaWriteTask[slots];
        reading = new boolean[slots];
        try {
            inventory.start();
            for (int i = 0; i < slots; i++) {
                volumeBufs[i] = inventory.bufByAddress(blocks, 0, blocks.sizeBytes());
                remoteBufs[i] = inventory.bufByAddress(remoteMemory, 0, remoteMemory.sizeBytes());
            }
            data.setSendQueueSize(slots);
            data.setReadTasks(slots, this::read, this::notRead);
            data.setWriteTasks(slots, this::written, this::notWritten);
        } catch (RuntimeException | Error e) {
            Closeables.afterFailure(e, this);
            throw e;
        }
    }

    @Override
    public void prepareTasks(RdmaConnection connection) {
        Rdma data = connection.context();
        for (int i = 0; i < reads.length; i++) {
            reads[i] = worker.track(data.allocateRead(connection, remoteBufs[i], volumeBufs[i]));
            reads[i].setUserData(i);
            writes[i] = worker.track(data.allocateWrite(connection, volumeBufs[i], remoteBufs[i]));
            writes[i].setUserData(i);
        }
    }

    @Override
    public void begin(
            int slot, IoType type, long sizeBytes, long requesterOffset, long storageOffset) {
        boolean read = type == IoType.READ;
        reading[slot] = read;
        // The source's data section selects the bytes; the empty one of the destination, the
        // offset.
        volumeBufs[slot].setData(storageOffset, read ? sizeBytes : 0);
        remoteBufs[slot].setData(requesterOffset, read ? 0 : sizeBytes);
        transferQueue.submit(slot);
    }

    /**
     * Submits the transfer; false if the queue is full. Any other failure is the request's result.
     */
    private boolean tryTransfer(int slot) {
        Status status = reading[slot] ? writes[slot].trySubmit() : reads[slot].trySubmit();
        if (status == Status.AGAIN) {
            return false;
        }
        if (status != Status.SUCCESS) {
            worker.answer(slot, status);
        }
        return true;
    }

    private void written(RdmaWriteTask task) {
        worker.answer((int) task.userData(), Status.SUCCESS);
    }

    private void read(RdmaReadTask task) {
        worker.answer((int) task.userData(), Status.SUCCESS);
    }

    private void notWritten(RdmaWriteTask task) {
        transferFailed((int) task.userData(), task.status());
    }

    private void notRead(RdmaReadTask task) {
        transferFailed((int) task.userData(), task.status());
    }

    private void transferFailed(int slot, Status status) {
        if (!worker.endsSession(status)) {
            worker.answer(slot, status);
        }
    }

    @Override
    public void close() {
        releaseAll(volumeBufs);
        releaseAll(remoteBufs);
        Closeables.inOrder(inventory);
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
