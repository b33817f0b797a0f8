package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Connecting and disconnecting of instances, for all providers. */
public abstract class RdmaConnectContract extends RdmaContract {
    /** For subclasses. */
    protected RdmaConnectContract() {}

    @Test
    @Clause({"rdma-051", "rdma-052"})
    void shouldConnectByCopiesOfTheBytesThatWereExported() {
        Peer near = openNear();
        Peer far = openFar();
        near.start();
        far.start();
        RdmaConnection here = near.rdma.exportConnection();
        RdmaConnection there = far.rdma.exportConnection();
        byte[] toFar = here.blob().clone();
        byte[] toNear = there.blob().clone();
        assertThat(toFar).isNotEqualTo(toNear);
        near.rdma.connect(toNear, here);
        far.rdma.connect(toFar, there);
        Arrays.fill(toNear, (byte) 0); // the instances keep no reference to them
        Arrays.fill(toFar, (byte) 0);
        Peer.drive(
                "connected",
                () ->
                        here.state() == RdmaConnection.State.CONNECTED
                                && there.state() == RdmaConnection.State.CONNECTED,
                near,
                far);
    }

    @Test
    @Clause("rdma-187")
    void shouldBeStartingFromItsStartWhichOnlyIdleAllows() {
        Peer near = openNear();
        assertThat(near.rdma.start()).isEqualTo(Status.IN_PROGRESS);
        assertThat(near.rdma.state()).isEqualTo(ContextState.STARTING);
        assertThat(Refusals.statusOf(near.rdma::start)).isEqualTo(Status.BAD_STATE);
        Peer far = openFar();
        Pair pair = connect(near, far);
        assertThat(Refusals.statusOf(near.rdma::start)).isEqualTo(Status.BAD_STATE);
        assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);

        RdmaReceiveTask kept = near.rdma.allocateReceive(null);
        pair.toNear().disconnect();
        Peer.drive(
                "the end of the connection",
                () -> pair.toFar().state() == RdmaConnection.State.DISCONNECTED,
                near,
                far);
        assertThat(near.rdma.state()).as("unconnected").isEqualTo(ContextState.RUNNING);
        near.rdma.stop();
        assertThat(Refusals.statusOf(near.rdma::start)).isEqualTo(Status.BAD_STATE);
        assertThat(near.rdma.state()).isEqualTo(ContextState.STOPPING);
        kept.free();
        near.engine.progress();
        assertThat(near.rdma.state()).isEqualTo(ContextState.IDLE);

        assertThat(near.rdma.start()).isEqualTo(Status.IN_PROGRESS);
        assertThat(near.rdma.state()).as("again").isEqualTo(ContextState.STARTING);
    }

    @Test
    @Clause({"rdma-185", "rdma-186", "rdma-191"})
    void shouldBecomeRunningInProgressOnceBothSidesHaveConnected() {
        Peer near = openNear();
        Peer far = openFar();
        assertThat(near.rdma.start()).isEqualTo(Status.IN_PROGRESS);
        far.start();
        assertThat(near.rdma.state()).isEqualTo(ContextState.STARTING);

        RdmaConnection here = near.rdma.exportConnection();
        RdmaConnection there = far.rdma.exportConnection();
        near.rdma.connect(there.blob().clone(), here);
        for (int i = 0; i < 100; i++) {
            near.engine.progress();
            far.engine.progress();
        }
        assertThat(near.rdma.state())
                .as("the peer has not connected")
                .isEqualTo(ContextState.STARTING);
        assertThat(here.state()).isEqualTo(RdmaConnection.State.CONNECTING);

        far.rdma.connect(here.blob().clone(), there);
        assertThat(far.rdma.state()).as("without progress").isEqualTo(ContextState.STARTING);
        Peer.drive(
                "both run",
                () ->
                        near.rdma.state() == ContextState.RUNNING
                                && far.rdma.state() == ContextState.RUNNING,
                near,
                far);
        near.engine.progress();
        assertThat(near.states).containsExactly(ContextState.STARTING, ContextState.RUNNING);
        assertThat(near.connectionStates)
                .containsExactly(RdmaConnection.State.CONNECTING, RdmaConnection.State.CONNECTED);
    }

    @Test
    @Clause({"rdma-050", "rdma-049"})
    void shouldRefuseToExportAndConnectBeforeStart() {
        Peer near = openNear();
        Peer far = openFar();
        far.start();
        byte[] blob = far.rdma.exportConnection().blob();

        assertRefusedInIdle(near.rdma::exportConnection);
        near.start();
        assertThat(near.rdma.state()).isEqualTo(ContextState.STARTING);
        RdmaConnection here = near.rdma.exportConnection();
        Buf buf = near.data(0, 8);
        for (Runnable call :
                List.<Runnable>of(
                        () -> near.rdma.allocateSend(here, null),
                        () -> near.rdma.allocateReceive(null),
                        () -> near.rdma.allocateRead(here, buf, buf),
                        () -> near.rdma.allocateWrite(here, buf, buf))) {
            assertThat(Refusals.statusOf(call)).as("not connected yet").isEqualTo(Status.BAD_STATE);
        }
        buf.release();
        near.stop();
        assertThat(near.rdma.state()).isEqualTo(ContextState.IDLE);
        assertRefusedInIdle(near.rdma::exportConnection);
        assertRefusedInIdle(() -> near.rdma.connect(blob, here));
    }

    private static void assertRefusedInIdle(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.BAD_STATE))
                .hasMessageContaining("state=IDLE");
    }

    @Test
    @Clause("rdma-053")
    void shouldRefuseDamagedBlobsAndSurviveThem() {
        Peer near = openNear();
        Peer far = openFar();
        near.start();
        far.start();
        RdmaConnection here = near.rdma.exportConnection();
        RdmaConnection there = far.rdma.exportConnection();
        byte[] good = there.blob();

        assertThat(Refusals.statusOf(() -> near.rdma.connect(new byte[0], here)))
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(Refusals.statusOf(() -> near.rdma.connect(new byte[good.length], here)))
                .isEqualTo(Status.INVALID_VALUE);
        for (int length = 0; length < good.length; length++) {
            byte[] shortened = Arrays.copyOf(good, length);
            assertThat(Refusals.statusOf(() -> near.rdma.connect(shortened, here)))
                    .as("length %d", length)
                    .isEqualTo(Status.INVALID_VALUE);
        }
        for (int offset = 0; offset < good.length; offset++) {
            byte[] damaged = good.clone();
            damaged[offset] ^= 1;
            assertThat(Refusals.statusOf(() -> near.rdma.connect(damaged, here)))
                    .as("offset %d", offset)
                    .isIn(Status.INVALID_VALUE, Status.UNSUPPORTED_VERSION);
        }
        byte[] longer = Arrays.copyOf(good, good.length + 1);
        assertThat(Refusals.statusOf(() -> near.rdma.connect(longer, here)))
                .isEqualTo(Status.INVALID_VALUE);
        byte[] mmap = far.mmap.exportRdma(far.device);
        assertThat(Refusals.statusOf(() -> near.rdma.connect(mmap, here)))
                .as("a blob of another kind")
                .isEqualTo(Status.INVALID_VALUE);

        near.rdma.connect(good, here);
        far.rdma.connect(here.blob(), there);
        Peer.drive(
                "connection in spite of all that",
                () -> here.state() == RdmaConnection.State.CONNECTED,
                near,
                far);
    }

    @Test
    void shouldRefuseToConnectTwiceOrAnotherInstancesConnection() {
        Pair pair = connected();
        byte[] blob = pair.toNear().blob();

        assertThat(Refusals.statusOf(() -> pair.near().rdma.connect(blob, pair.toFar())))
                .isEqualTo(Status.BAD_STATE);
        assertThat(Refusals.statusOf(() -> pair.near().rdma.connect(blob, pair.toNear())))
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(Refusals.statusOf(() -> pair.near().rdma.allocateSend(pair.toNear(), null)))
                .isEqualTo(Status.INVALID_VALUE);
    }

    @Test
    void shouldAnswerFullBeyondTheConfiguredConnections() {
        Peer near = openNear();
        near.start();
        near.rdma.exportConnection();

        assertThat(Refusals.statusOf(near.rdma::exportConnection)).isEqualTo(Status.FULL);
    }

    @Test
    @Clause("rdma-049")
    void shouldRefuseTasksOnAConnectionThatIsNotConnectedYet() {
        Peer near = openWith(2, true);
        Peer far = openWith(2, false);
        connect(near, far);
        Mmap remote = near.importRdma(far);
        RdmaConnection here = near.rdma.exportConnection();
        assertNotConnected(near, here, remote);

        near.rdma.connect(far.rdma.exportConnection().blob(), here);
        for (int i = 0; i < 1000; i++) {
            assertNotConnected(near, here, remote);
            near.engine.progress();
        }
        assertThat(here.state()).isEqualTo(RdmaConnection.State.CONNECTING);
    }

    private static void assertNotConnected(Peer near, RdmaConnection connection, Mmap remote) {
        assertThat(near.send(connection, near.data(0, 8), 1)).isEqualTo(Status.NOT_CONNECTED);
        assertThat(
                        near.read(
                                connection,
                                near.inventory.bufByData(remote, 0, 8),
                                near.room(0, 8),
                                2))
                .isIn(Status.NOT_CONNECTED, Status.NOT_PERMITTED); // its peer has granted nothing
    }

    @Test
    @Clause({"rdma-005", "rdma-051", "rdma-178"})
    void shouldServeSeveralConnectionsAndKeepThemApart() {
        Peer near = openWith(4, true);
        Peer far = openWith(4, false);
        near.start();
        far.start();
        RdmaConnection[] here = new RdmaConnection[4];
        RdmaConnection[] there = new RdmaConnection[4];
        for (int i = 0; i < 4; i++) {
            RdmaConnection[] ends = Peer.connectMore(near, far);
            here[i] = ends[0];
            there[i] = ends[1];
        }
        assertThat(Refusals.statusOf(near.rdma::exportConnection)).isEqualTo(Status.FULL);
        for (int i = 3; i >= 0; i--) {
            far.receive(far.room(i * 64L, 64), i);
            near.fill(0, 64, i);
            near.send(here[i], near.data(0, 64), i);
            Peer.Outcome received = far.next(near);
            assertThat(received.connection()).isSameAs(there[i]);
            assertThat(far.mismatch(i * 64L, 64, i)).isEqualTo(-1);
            assertThat(near.next(far).connection()).isSameAs(here[i]);
        }

        here[1].disconnect();
        Peer.drive(
                "the end of one",
                () -> there[1].state() == RdmaConnection.State.DISCONNECTED,
                near,
                far);
        assertThat(here[1].state()).isEqualTo(RdmaConnection.State.DISCONNECTED);
        assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
        assertThat(near.send(here[1], near.data(0, 64), 0)).isEqualTo(Status.NOT_CONNECTED);
        far.receive(far.room(0, 64), 0);
        assertThat(near.send(here[0], near.data(0, 64), 0)).isEqualTo(Status.SUCCESS);
        assertThat(far.next(near).connection()).isSameAs(there[0]);

        RdmaConnection[] again = Peer.connectMore(near, far);
        assertThat(again[0].state())
                .as("its place is free")
                .isEqualTo(RdmaConnection.State.CONNECTED);
        near.next(far);
        assertThat(near.states).containsExactly(ContextState.STARTING, ContextState.RUNNING);
    }

    @Test
    void shouldSeeAnOrderlyEndWithoutStopping() {
        Pair pair = connect(openPatientNear(), openFar());
        Peer near = pair.near();
        near.receive(near.room(0, 64), 1);
        near.send(pair.toFar(), near.data(0, 64), 2); // no receive task is posted for it

        pair.far().stop();
        Peer.drive(
                "the end",
                () -> pair.toFar().state() == RdmaConnection.State.DISCONNECTED,
                near,
                pair.far());

        assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
        assertThat(near.outcomes)
                .containsExactly(
                        new Peer.Outcome("send", Status.CONNECTION_RESET, -1, 2, pair.toFar()));
        assertThat(near.rdma.inFlightTasks()).as("the receive stays").isEqualTo(1);
        assertThat(near.send(pair.toFar(), near.data(0, 64), 3)).isEqualTo(Status.NOT_CONNECTED);
    }

    @Test
    void shouldCountFromTheSelectionOfTheProviderToTheEndAndAfterIt() {
        Peer near = openWith(2, true);
        Peer far = openWith(2, false);
        Pair pair = connect(near, far);
        assertThat(near.rdma.exportConnection().counters()).as("of no provider yet").isEmpty();
        Map<String, Long> before = pair.toFar().counters();
        assertThatThrownBy(() -> before.put("any", 1L))
                .isInstanceOf(UnsupportedOperationException.class);
        far.receive(far.room(0, 64), 1);
        near.send(pair.toFar(), near.data(0, 64), 1);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        pair.toFar().disconnect();
        Peer.drive(
                "the end",
                () -> pair.toFar().state() == RdmaConnection.State.DISCONNECTED,
                near,
                far);
        Map<String, Long> after = pair.toFar().counters();
        assertThat(after.keySet()).containsExactlyElementsOf(before.keySet());
        assertThat(after)
                .allSatisfy((name, value) ->
                        assertThat(value).as(name).isGreaterThanOrEqualTo(before.get(name)));
    }

    @Test
    void shouldDeliverWhatWasSentBeforeAnOrderlyEnd() {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        for (int i = 0; i < 50; i++) {
            far.receive(far.room(i * 64L, 64), i);
            near.fill(i * 64L, 64, i);
            near.send(pair.toFar(), near.data(i * 64L, 64), i);
        }
        Peer.drive("all sent", () -> near.outcomes.size() == 50, near, far);
        near.stop();
        Peer.drive(
                "the end", () -> pair.toNear().state() == RdmaConnection.State.DISCONNECTED, far);

        assertThat(far.outcomes).hasSize(50).allMatch(o -> o.status() == Status.SUCCESS);
    }

    @Test
    @Clause("rdma-178")
    void shouldAbortConnectingWhenStopped() {
        Peer near = openNear();
        Peer far = openFar();
        near.start();
        far.start();
        RdmaConnection here = near.rdma.exportConnection();
        near.rdma.connect(far.rdma.exportConnection().blob(), here);
        near.engine.progress();

        near.stop();

        assertThat(here.state()).isEqualTo(RdmaConnection.State.DISCONNECTED);
        assertThat(near.rdma.state()).isEqualTo(ContextState.IDLE);
        near.engine.progress();
        assertThat(near.states)
                .containsExactly(ContextState.STARTING, ContextState.STOPPING, ContextState.IDLE);
    }

    @Test
    void shouldStartAndConnectAgainAfterAStop() {
        Pair first = connected();
        first.near().stop();
        first.far().stop();

        Pair second = connect(first.near(), first.far());

        second.far().receive(second.far().room(0, 64), 1);
        second.near().send(second.toFar(), second.near().data(0, 64), 2);
        assertThat(second.far().next(second.near()).status()).isEqualTo(Status.SUCCESS);
        assertThat(first.toFar().state()).isEqualTo(RdmaConnection.State.DISCONNECTED);
    }

    @Test
    @Clause("rdma-005")
    void shouldNotConnectToWhomThePeerWasNotConnected() {
        Peer near = openWith(2, true);
        Peer far = openWith(2, false);
        near.start();
        far.start();
        RdmaConnection here = near.rdma.exportConnection();
        RdmaConnection other = near.rdma.exportConnection();
        RdmaConnection there = far.rdma.exportConnection();

        near.rdma.connect(there.blob(), here);
        far.rdma.connect(other.blob(), there); // meant for another of this side's connections
        for (int i = 0; i < 1000; i++) {
            near.engine.progress();
            far.engine.progress();
        }

        assertThat(here.state()).isNotEqualTo(RdmaConnection.State.CONNECTED);
        assertThat(there.state()).isNotEqualTo(RdmaConnection.State.CONNECTED);

        near.rdma.connect(here.blob(), other); // each is connected to, but by a third
        Peer.drive(
                "the end of the three",
                () ->
                        Stream.of(here, there, other)
                                .allMatch(end -> end.state() == RdmaConnection.State.FAILED),
                near,
                far);
    }

    @Test
    void shouldDisconnectInProgressAndTellThePeer() {
        Pair pair = connected();
        Peer near = pair.near();

        pair.toFar().disconnect();
        assertThat(pair.toFar().state()).isEqualTo(RdmaConnection.State.CONNECTED);
        Peer.drive(
                "both see it",
                () ->
                        pair.toFar().state() == RdmaConnection.State.DISCONNECTED
                                && pair.toNear().state() == RdmaConnection.State.DISCONNECTED,
                near,
                pair.far());

        assertThat(near.send(pair.toFar(), near.data(0, 8), 0)).isEqualTo(Status.NOT_CONNECTED);
        assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
    }

    private Peer openWith(int maxConnections, boolean near) {
        return add(
                Peer.open(
                        environment(),
                        folder(),
                        near ? environment().nearSide() : environment().farSide(),
                        Peer.ALL,
                        rdma -> rdma.setMaxConnections(maxConnections)));
    }

    @Test
    @Clause({"rdma-186", "rdma-191"})
    void shouldMoveOnFromStartingInNothingButProgress() {
        Peer near = openNear();
        Peer far = openFar();
        near.start();
        far.start();
        RdmaConnection here = near.rdma.exportConnection();
        RdmaConnection there = far.rdma.exportConnection();
        near.rdma.connect(there.blob(), here);
        far.rdma.connect(here.blob(), there);
        Await.byStep(
                "both run",
                () ->
                        near.rdma.state() == ContextState.RUNNING
                                && far.rdma.state() == ContextState.RUNNING,
                () -> {
                    for (Peer peer : List.of(near, far)) {
                        ContextState before = peer.rdma.state();
                        peer.engine.requestNotification();
                        peer.engine.awaitNotification(
                                Duration.ofMillis(1)); // the peer's events arrive
                        peer.engine.clearNotification();
                        assertThat(peer.rdma.state()).as("without progress").isEqualTo(before);
                        peer.engine.progress();
                    }
                });
    }
}
