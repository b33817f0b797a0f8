package io.softdpu.perf.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.Buf;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.RdmaReceiveTask;

/** Receives of one side, each posted again after it was completed. Belongs to the side's thread. */
final class Receives {
    private final RdmaSide side;
    private final RdmaPlan plan;
    private long received;

    /** Configures the instance of the side, which has not been started. */
    Receives(RdmaSide side) {
        this.side = side;
        plan = side.plan;
        side.rdma.setReceiveTasks(plan.window(), this::completed, this::failed);
    }

    /** Posts all; the instance runs. */
    void post() {
        for (int i = 0; i < plan.window(); i++) {
            // A write with immediate leaves the buf of the receive as it is.
            Buf room =
                    plan.operation() == RdmaOperation.SEND
                            ? side.room(
                                    side.mmap, plan.peerOffset(side.side) + i * plan.strideBytes())
                            : null;
            side.rdma.allocateReceive(room).submit();
        }
    }

    /** Begins a run: counts from 0. */
    void reset() {
        received = 0;
    }

    /** Number of those completed since the begin of the run. */
    long received() {
        return received;
    }

    private void completed(RdmaReceiveTask task) {
        if (side.isClosing()) {
            task.free();
            return;
        }
        long length = task.resultLength();
        received++;
        Buf room = task.destination();
        if (room != null) {
            room.resetDataLength();
        }
        if (task.trySubmit() != Status.SUCCESS) {
            task.free(); // the instance is stopping
        }
        if (length != plan.sizeBytes()) {
            throw new DpuException(
                    Status.UNEXPECTED,
                    Text.format(
                            "operation of the peer has another size: bytes=%d, expected=%d",
                            length, plan.sizeBytes()));
        }
    }

    private void failed(RdmaReceiveTask task) {
        task.free(); // the end of the connection is noticed without it
    }
}
