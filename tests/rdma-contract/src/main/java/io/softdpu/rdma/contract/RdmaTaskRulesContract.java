package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaReadTask;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.rdma.RdmaWriteTask;
import io.softdpu.testkit.Clause;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Rules of tasks beside their data: callbacks in progress alone, number, memory, and no change in
 * flight; over every provider.
 */
public abstract class RdmaTaskRulesContract extends RdmaContract {
    /** For subclasses. */
    protected RdmaTaskRulesContract() {}

    // ---- callbacks ----

    @Test
    @Clause("rdma-008")
    void shouldCallTheCallbacksOfTasksInProgressAlone() {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        far.send(pair.toNear(), far.data(0, 64), 1); // waits for a receive
        far.receive(far.room(0, 64), 2);
        near.engine.progress();

        near.receive(near.room(0, 64), 3);
        near.send(pair.toFar(), near.data(64, 64), 4);
        far.engine.progress(); // takes the message
        near.read(pair.toFar(), near.inventory.bufByData(remote, 0, 64), near.room(128, 64), 5);
        near.write(pair.toFar(), near.data(0, 64), near.inventory.bufByAddress(remote, 128, 64), 6);
        far.engine.progress();
        assertThat(near.outcomes).as("without progress").isEmpty();
        assertThat(near.rdma.inFlightTasks()).isEqualTo(4);

        Peer.drive("all four", () -> near.outcomes.size() == 4, near, far);
        assertThat(near.outcomes).extracting(Peer.Outcome::status).containsOnly(Status.SUCCESS);
    }

    @Test
    @Clause("rdma-008")
    void shouldCallTheCallbacksOfEventsInProgressAlone() {
        Peer near = openNear();
        Peer far = openFar();
        near.start();
        far.start();
        assertThat(near.states).isEmpty();
        near.engine.progress();
        assertThat(near.states).containsExactly(ContextState.STARTING);

        RdmaConnection here = near.rdma.exportConnection();
        near.rdma.connect(far.rdma.exportConnection().blob(), here);
        assertThat(near.connectionStates).isEmpty();
        near.engine.progress();
        assertThat(near.connectionStates).containsExactly(RdmaConnection.State.CONNECTING);

        near.rdma.stop();
        assertThat(near.connectionStates).containsExactly(RdmaConnection.State.CONNECTING);
        assertThat(near.states).containsExactly(ContextState.STARTING);
        near.stop();
        near.engine.progress();
        assertThat(near.connectionStates).endsWith(RdmaConnection.State.DISCONNECTED);
        assertThat(near.states).endsWith(ContextState.STOPPING, ContextState.IDLE);
    }

    // ---- number ----

    @Test
    @Clause("rdma-060")
    void shouldPostAsManyReceivesAsWereConfiguredLast() {
        Peer near = openConfigured(rdma -> configureReceives(rdma, 3));
        Pair pair = connect(near, openFar());
        assertThatReceivesCanBePosted(3, near);
        near.stop();
        pair.far().stop();

        configureReceives(near.rdma, 5);
        connect(near, pair.far());
        assertThatReceivesCanBePosted(5, near);
    }

    private static void configureReceives(Rdma rdma, int count) {
        rdma.setReceiveTasks(count, Task::free, Task::free);
    }

    private static void assertThatReceivesCanBePosted(int count, Peer peer) {
        for (int i = 0; i < count; i++) {
            assertThat(peer.receive(null, i)).isEqualTo(Status.SUCCESS);
        }
        assertThat(Refusals.statusOf(() -> peer.receive(null, count))).isEqualTo(Status.NO_MEMORY);
        assertThat(peer.rdma.inFlightTasks()).isEqualTo(count);
    }

    // ---- memory ----

    @Test
    @Clause("rdma-063")
    void shouldRefuseThePeersMemoryForMessages() {
        Pair pair = connected();
        Peer near = pair.near();
        Mmap remote = near.importRdma(pair.far());

        assertThat(near.receive(near.inventory.bufByAddress(remote, 0, 64), 1))
                .isEqualTo(Status.NOT_PERMITTED);
        assertThat(near.send(pair.toFar(), near.inventory.bufByData(remote, 0, 64), 2))
                .isEqualTo(Status.NOT_PERMITTED);
        assertThat(near.rdma.inFlightTasks()).isZero();
    }

    // ---- change in flight ----

    @Test
    @Clause("rdma-073")
    void shouldRefuseToChangeATaskInFlight() {
        Pair pair = connected();
        Peer near = pair.near();
        RdmaConnection toFar = pair.toFar();
        Mmap remote = near.importRdma(pair.far());
        Buf here = near.data(0, 64);
        Buf there = near.inventory.bufByData(remote, 0, 64);
        RdmaSendTask send = near.rdma.allocateSend(toFar, near.data(0, 64));
        RdmaReceiveTask receive = near.rdma.allocateReceive(near.room(64, 64));
        RdmaReadTask read =
                near.rdma.allocateRead(
                        toFar, near.inventory.bufByData(remote, 0, 64), near.room(128, 64));
        RdmaWriteTask write =
                near.rdma.allocateWrite(
                        toFar, near.data(0, 64), near.inventory.bufByAddress(remote, 64, 64));
        List<Runnable> changes =
                List.of(
                        () -> send.setConnection(toFar),
                        () -> send.setSource(here),
                        () -> receive.setDestination(here),
                        () -> read.setConnection(toFar),
                        () -> read.setSource(there),
                        () -> read.setDestination(here),
                        () -> write.setConnection(toFar),
                        () -> write.setSource(here),
                        () -> write.setDestination(there));
        List.<Task>of(send, receive, read, write).forEach(Task::submit);
        for (Runnable change : changes) {
            assertThat(Refusals.statusOf(change)).isEqualTo(Status.IN_USE);
        }
        near.stop();
        assertThat(near.outcomes).as("with the bufs of before").hasSize(4);
        here.release();
        there.release();
    }
}
