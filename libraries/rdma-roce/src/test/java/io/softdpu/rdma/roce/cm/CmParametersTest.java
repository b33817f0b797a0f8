package io.softdpu.rdma.roce.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.rdma.roce.rc.Path;
import io.softdpu.rdma.roce.rc.QueuePair;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.RejectReason;
import io.softdpu.testkit.FakeClock;
import io.softdpu.testkit.SeededRandom;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connections to peers without connection management, by parameters. */
class CmParametersTest {
    private static final int NUMBER = 0x123;
    private static final int FIRST_PSN = 0xfffffe;

    private FakeClock clock;
    private CmEnd near;
    private CmEnd far;
    private CmConnection end;

    @BeforeEach
    void open(SeededRandom random) {
        clock = new FakeClock();
        near = new CmEnd(1, clock, random);
        far = new CmEnd(2, clock, random);
        end = near.export();
    }

    private PeerQueuePair peer(int readLimit) {
        return new PeerQueuePair(far.gid, NUMBER, FIRST_PSN, 1024, readLimit);
    }

    private void connect() {
        end.connect(peer(16), clock.nowNanos());
        assertThat(near.takeEvents()).isEqualTo("established");
    }

    private static QueuePair queuePair(CmConnection of) {
        return Objects.requireNonNull(of.queuePair());
    }

    @Test
    void shouldBeEstablishedAtOnceByNoMessage() {
        connect();
        assertThat(end.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(near.sent()).isEmpty();
        Path path = CmEnd.agreement(end).path();
        assertThat(path.peer()).isEqualTo(far.gid);
        assertThat(path.peerQueuePair()).isEqualTo(NUMBER);
        assertThat(path.receivePsn()).isEqualTo(FIRST_PSN);
        assertThat(path.sendPsn()).isEqualTo(end.ownPsn());
        assertThat(path.mtuBytes()).isEqualTo(1024);
        assertThat(path.peerIdentifications()).isEqualTo(Path.ANY_IDENTIFICATION);
        assertThat(path.responderResources()).isEqualTo(CmEnd.TERMS.responderResources());
        assertThat(path.initiatorDepth()).as("of both").isEqualTo(CmEnd.TERMS.initiatorDepth());
        assertThat(queuePair(end).state()).isEqualTo(QueuePair.State.CONNECTED);
    }

    @Test
    void shouldKeepToTheReadLimitOfThePeer() {
        end.connect(peer(3), clock.nowNanos());
        assertThat(CmEnd.agreement(end).path().initiatorDepth()).isEqualTo(3);
    }

    @Test
    void shouldEndWithoutAMessage() {
        connect();
        end.disconnect(clock.nowNanos());
        assertThat(end.state()).isEqualTo(CmState.TIMEWAIT);
        assertThat(queuePair(end).state()).isEqualTo(QueuePair.State.ENDED);
        near.advance(10 * CmEnd.SECOND);
        assertThat(near.sent()).isEmpty();
        assertThat(end.state()).isEqualTo(CmState.CLOSED);
        assertThat(near.takeEvents()).isEqualTo("released");
        assertThat(near.manager.held()).isZero();
    }

    @Test
    void shouldTellItsProgramAloneOfAFailure() {
        connect();
        CmEnd.contact(end, Opcode.SEND_LAST, clock.nowNanos()); // continues no message
        assertThat(near.takeEvents()).startsWith("ended:");
        assertThat(end.state()).isEqualTo(CmState.TIMEWAIT);
        assertThat(near.sent()).isEmpty();
    }

    @Test
    void shouldTakeNoMessageOfThePeer() {
        connect();
        int id = end.localId();
        near.give(new CmMessage.Dreq(1, 0, id, end.queuePairNumber(), new byte[0]), far.gid);
        near.give(
                new CmMessage.Rej(
                        1,
                        0,
                        id,
                        CmMessage.About.OTHER,
                        RejectReason.CONSUMER,
                        new byte[0],
                        new byte[0]),
                far.gid);
        assertThat(end.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(near.takeEvents()).isEmpty();
        assertThat(near.takeKinds()).as("of no connection").containsExactly("DREP");
    }

    @Test
    void shouldRejectARequestWithItsKey() {
        CmConnection other = far.export();
        while (Objects.requireNonNull(other.key()).compareTo(Objects.requireNonNull(end.key()))
                > 0) {
            other.disconnect(clock.nowNanos());
            other = far.export();
        }
        far.takeEvents();
        other.connect(near.gid, Objects.requireNonNull(end.key()), clock.nowNanos());
        far.pass(near);
        assertThat(end.state()).as("the request is kept").isEqualTo(CmState.EXPORTED);
        connect();
        CmEnd.exchange(near, far);
        assertThat(far.takeEvents()).startsWith("ended:CONNECTION_RESET");
        assertThat(end.state()).isEqualTo(CmState.ESTABLISHED);
    }

    @Test
    void shouldEndIfItsPeersQueuePairBelongsToANewConnection() {
        CmConnection other = far.connect(near.gid, new byte[0]);
        end.connect(
                new PeerQueuePair(far.gid, other.queuePairNumber(), 5, 1024, 16), clock.nowNanos());
        near.takeEvents();
        far.pass(near);
        assertThat(near.takeEvents()).isEqualTo("ended:CONNECTION_RESET");
        assertThat(near.takeKinds()).containsExactly("REJ");
    }

    @Test
    void shouldConnectOnce() {
        connect();
        assertThatThrownBy(() -> end.connect(peer(16), clock.nowNanos()))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.BAD_STATE));
        CmConnection over = near.export();
        over.disconnect(clock.nowNanos());
        assertThatThrownBy(() -> over.connect(peer(16), clock.nowNanos()))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.BAD_STATE));
    }

    /** The packets of both would be the same peer's. */
    @Test
    void shouldRefuseAQueuePairThatBelongsToAConnection() {
        connect();
        CmConnection second = near.export();
        assertAlreadyExists(second, peer(16));
        assertAlreadyExists(second, new PeerQueuePair(far.gid, NUMBER, 5, 512, 3));
        assertThat(end.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(near.takeEvents()).isEmpty();

        second.connect(
                new PeerQueuePair(far.gid, NUMBER + 1, FIRST_PSN, 1024, 16), clock.nowNanos());
        assertThat(second.state()).as("another number").isEqualTo(CmState.ESTABLISHED);
        CmConnection third = near.export();
        third.connect(
                new PeerQueuePair(CmEnd.address(3), NUMBER, FIRST_PSN, 1024, 16), clock.nowNanos());
        assertThat(third.state()).as("another address").isEqualTo(CmState.ESTABLISHED);
    }

    private void assertAlreadyExists(CmConnection of, PeerQueuePair peer) {
        assertThatThrownBy(() -> of.connect(peer, clock.nowNanos()))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.ALREADY_EXIST))
                .hasMessageContaining("queuePair=" + peer.number());
        assertThat(of.state()).isEqualTo(CmState.EXPORTED);
    }

    @Test
    void shouldRefuseAQueuePairOfAConnectionThatHasMessages() {
        CmConnection there = far.connect(near.gid, new byte[0]);
        far.pass(near);
        near.accept(near.request(), new byte[0]);
        PeerQueuePair taken = new PeerQueuePair(far.gid, there.queuePairNumber(), 5, 1024, 16);
        assertAlreadyExists(end, taken);
        CmEnd.exchange(near, far);
        assertAlreadyExists(end, taken);
        assertThat(there.state()).isEqualTo(CmState.ESTABLISHED);
    }

    @Test
    void shouldTakeTheQueuePairOfAConnectionThatHasEnded() {
        connect();
        end.disconnect(clock.nowNanos());
        assertThat(end.state()).isEqualTo(CmState.TIMEWAIT);
        CmConnection next = near.export();
        next.connect(peer(16), clock.nowNanos());
        near.advance(10 * CmEnd.SECOND);
        assertThat(end.state()).isEqualTo(CmState.CLOSED);
        assertThat(next.state()).isEqualTo(CmState.ESTABLISHED);
        assertAlreadyExists(near.export(), peer(16));
    }

    @Test
    void shouldRefuseTheQueuePairOfARequestThatWaits() {
        CmConnection there = far.connect(near.gid, new byte[0]);
        far.pass(near);
        CmConnection request = near.request();
        assertAlreadyExists(end, new PeerQueuePair(far.gid, there.queuePairNumber(), 5, 1024, 16));
        assertThat(request.state()).isEqualTo(CmState.REQ_RECEIVED);
        assertThat(near.gone).isEmpty();
        assertThat(near.takeEvents()).isEqualTo("requested");
        connect();
    }

    @Test
    void shouldRefuseItsOwnQueuePair() {
        PeerQueuePair own = new PeerQueuePair(near.gid, end.queuePairNumber(), 5, 1024, 16);
        assertThatThrownBy(() -> end.connect(own, clock.nowNanos()))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining("its own queue pair");
        assertThat(end.state()).isEqualTo(CmState.EXPORTED);
        connect();
    }

    @Test
    void shouldRefuseTheOtherIpVersion() {
        Gid ipv6 = new Gid(0xfd77_0000_0000_0000L, 2);
        assertThatThrownBy(() ->
                        end.connect(new PeerQueuePair(ipv6, NUMBER, 0, 1024, 16), clock.nowNanos()))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED));
        assertThat(end.state()).isEqualTo(CmState.EXPORTED);
        connect();
    }

    @Test
    void shouldAskThePeerWhetherItIsThereOnceItHasSentAPacket() {
        connect();
        clock.advanceNanos(3600 * CmEnd.SECOND);
        near.adapter.expire(clock.nowNanos());
        assertThat(near.adapter.isTransmitWaiting()).isFalse();

        CmEnd.contact(end, Opcode.ACKNOWLEDGE, clock.nowNanos());
        near.adapter.transmit(1000, clock.nowNanos());
        clock.advanceNanos(10 * CmEnd.SECOND);
        near.adapter.expire(clock.nowNanos());
        assertThat(near.adapter.isTransmitWaiting()).as("the question").isTrue();
    }
}
