package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaReadTask;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.rdma.RdmaWriteTask;
import io.softdpu.testkit.Clause;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/** No allocation on the data path after start, on either side. */
public abstract class RdmaAllocationContract extends RdmaContract {
    private static final int WARM_UP_ROUNDS = 30_000;
    private static final int ROUNDS = 20_000;
    private static final int BATCH = 8;

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
                        }));
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
                int idle = 0;
                while (ended < 4 * BATCH) {
                    boolean moved = near.engine.progress();
                    moved |= far.engine.progress();
                    idle = moved ? 0 : idle + 1;
                    if (idle > 1_000_000) {
                        throw new AssertionError("nothing moves: ended=" + ended);
                    }
                }
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
