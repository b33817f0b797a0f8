package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Numbers, types and callbacks of the tasks that were configured, over every provider. */
public abstract class RdmaTaskConfigurationContract extends RdmaContract {
    /** For subclasses. */
    protected RdmaTaskConfigurationContract() {}

    @Test
    @Clause({"rdma-060", "rdma-077"})
    void shouldHandOutAsManyMessageTasksAsConfigured() {
        Peer near =
                openConfigured(rdma -> {
                    rdma.setSendTasks(2, task -> {}, task -> {});
                    rdma.setReceiveTasks(3, task -> {}, task -> {});
                });
        Pair pair = connect(near, openFar());
        RdmaSendTask freed = near.rdma.allocateSend(pair.toFar(), null);
        freed.free();
        assertThat(Refusals.statusOf(freed::submit)).isEqualTo(Status.BAD_STATE);
        assertThatNoMoreThan(2, () -> near.rdma.allocateSend(pair.toFar(), null));
        assertThatNoMoreThan(3, () -> near.rdma.allocateReceive(null));
    }

    @Test
    @Clause("rdma-077")
    void shouldHandOutAsManySendTasksAsWereConfiguredLastBeforeEachStart() {
        Peer near = openNear();
        Peer far = openFar();
        for (int count : new int[] {3, 5, 1}) {
            near.rdma.setSendTasks(4, task -> {}, task -> {});
            near.rdma.setSendTasks(count, task -> {}, task -> {});
            Pair pair = connect(near, far);
            assertThatNoMoreThan(count, () -> near.rdma.allocateSend(pair.toFar(), null));
            near.stop();
            far.stop();
        }
    }

    @Test
    @Clause({"rdma-101", "rdma-113"})
    void shouldHandOutAsManyReadAndWriteTasksAsConfigured() {
        Peer near =
                openConfigured(rdma -> {
                    rdma.setReadTasks(2, task -> {}, task -> {});
                    rdma.setWriteTasks(3, task -> {}, task -> {});
                });
        Pair pair = connect(near, openFar());
        Mmap remote = near.importRdma(pair.far());
        Buf here = near.data(0, 8);
        Buf there = near.inventory.bufByData(remote, 0, 8);
        assertThatNoMoreThan(2, () -> near.rdma.allocateRead(pair.toFar(), there, here));
        assertThatNoMoreThan(3, () -> near.rdma.allocateWrite(pair.toFar(), here, there));
        here.release();
        there.release();
    }

    /** Takes that many tasks, and gives them back. */
    private static void assertThatNoMoreThan(int count, Supplier<Task> allocate) {
        List<Task> tasks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            tasks.add(allocate.get());
        }
        assertThat(Refusals.statusOf(() -> tasks.add(allocate.get()))).isEqualTo(Status.NO_MEMORY);
        tasks.forEach(Task::free);
    }

    @Test
    @Clause({"rdma-058", "rdma-075"})
    void shouldCallTheCallbackThatFitsOfSendsAndReceives() {
        List<Task> succeeded = new ArrayList<>();
        List<Task> failed = new ArrayList<>();
        Peer near =
                openConfigured(rdma -> {
                    rdma.setSendTasks(2, succeeded::add, failed::add);
                    rdma.setReceiveTasks(2, succeeded::add, failed::add);
                });
        Pair pair = connect(near, openFar());
        Peer far = pair.far();
        Task send = near.rdma.allocateSend(pair.toFar(), null);
        Task receive = near.rdma.allocateReceive(null);
        far.receive(null, 1);
        send.submit();
        receive.submit();
        far.send(pair.toNear(), null, 2);
        Peer.drive("both", () -> succeeded.size() + failed.size() == 2, near, far);
        assertThat(succeeded).containsExactlyInAnyOrder(send, receive);

        succeeded.clear();
        send.submit(); // and nothing answers either
        receive.submit();
        near.rdma.stop();
        Peer.drive("both", () -> succeeded.size() + failed.size() == 2, near);
        assertThat(failed).containsExactlyInAnyOrder(send, receive);
        send.free();
        receive.free();
    }

    @Test
    @Clause({"rdma-099", "rdma-111"})
    void shouldCallTheCallbackThatFitsOfReadsAndWrites() {
        List<Task> succeeded = new ArrayList<>();
        List<Task> failed = new ArrayList<>();
        Peer near =
                openConfigured(rdma -> {
                    rdma.setReadTasks(2, succeeded::add, failed::add);
                    rdma.setWriteTasks(2, succeeded::add, failed::add);
                });
        Pair pair = connect(near, openFar());
        Mmap remote = near.importRdma(pair.far());
        List<Buf> bufs =
                List.of(
                        near.inventory.bufByData(remote, 0, 8),
                        near.room(0, 16),
                        near.data(100, 8),
                        near.inventory.bufByAddress(remote, 100, 16));
        Task read = near.rdma.allocateRead(pair.toFar(), bufs.get(0), bufs.get(1));
        Task write = near.rdma.allocateWrite(pair.toFar(), bufs.get(2), bufs.get(3));
        read.submit();
        write.submit();
        Peer.drive("both", () -> succeeded.size() + failed.size() == 2, near, pair.far());
        assertThat(succeeded).containsExactly(read, write);

        succeeded.clear();
        near.send(pair.toFar(), null, 1); // without a receive; the others wait behind it
        read.submit();
        write.submit();
        near.rdma.stop(); // before any progress
        Peer.drive("both", () -> succeeded.size() + failed.size() == 2, near);
        assertThat(failed).containsExactly(read, write);
        read.free();
        write.free();
        bufs.forEach(Buf::release);
    }

    @Test
    @Clause({"rdma-058", "rdma-099", "rdma-111"})
    void shouldRefuseTasksOfTypesThatWereNotConfigured() {
        Peer near = openNear();
        try (Machine machine = environment().openMachine(folder(), environment().farSide());
                Device device =
                        machine.findDevice(environment().device(environment().farSide())).open();
                ProgressEngine engine = ProgressEngine.create();
                Rdma other = Rdma.create(device)) {
            other.setSendTasks(1, task -> {}, task -> {});
            engine.connect(other);
            near.start();
            other.start();
            var here = near.rdma.exportConnection();
            var there = other.exportConnection();
            near.rdma.connect(there.blob(), here);
            other.connect(here.blob(), there);
            Peer.drive(
                    "the other runs",
                    () -> {
                        engine.progress();
                        return other.state() == ContextState.RUNNING;
                    },
                    near);
            Buf buf = near.data(0, 8);
            for (Runnable call :
                    List.<Runnable>of(
                            () -> other.allocateReceive(null),
                            () -> other.allocateRead(there, buf, buf),
                            () -> other.allocateWrite(there, buf, buf))) {
                assertThat(Refusals.statusOf(call)).isEqualTo(Status.BAD_STATE);
            }
            buf.release();
            other.stop();
            Await.byStep("idle", () -> other.state() == ContextState.IDLE, engine::progress);
        }
    }

    @Test
    void shouldAnswerAgainWhenTheSendQueueIsFullAndTakeMoreLater() {
        Peer near =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().nearSide(),
                                Peer.ALL,
                                rdma -> rdma.setSendQueueSize(8)));
        Pair pair = connect(near, openFar());
        for (int i = 0; i < 8; i++) {
            assertThat(near.send(pair.toFar(), near.data(0, 8), i)).isEqualTo(Status.SUCCESS);
        }
        assertThat(near.send(pair.toFar(), near.data(0, 8), 8)).isEqualTo(Status.AGAIN);
        assertThat(near.rdma.inFlightTasks()).isEqualTo(8);

        pair.far().receive(pair.far().room(0, 8), 0);
        near.next(pair.far());
        assertThat(near.send(pair.toFar(), near.data(0, 8), 8)).isEqualTo(Status.SUCCESS);
    }
}
