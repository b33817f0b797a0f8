package io.softdpu.rdma.roce.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.RejectReason;
import io.softdpu.rdma.roce.wire.ServiceId;
import io.softdpu.testkit.FakeClock;
import io.softdpu.testkit.SeededRandom;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections by blob: both ends have each other's key, and both call connect. */
class CmBlobTest {
    private FakeClock clock;
    private CmEnd near;
    private CmEnd far;

    @BeforeEach
    void open(SeededRandom random) {
        clock = new FakeClock();
        near = new CmEnd(1, clock, random);
        far = new CmEnd(2, clock, random);
    }

    private static ConnectKey key(CmConnection connection) {
        return Objects.requireNonNull(connection.key());
    }

    /** An end of {@link #near} with the lower key, and one of {@link #far}. */
    private record Pair(CmConnection lower, CmConnection higher) {}

    private Pair exported() {
        CmConnection lower = near.export();
        CmConnection higher = far.export();
        while (key(lower).compareTo(key(higher)) > 0) {
            lower.disconnect(clock.nowNanos());
            lower = near.export();
        }
        near.takeEvents();
        return new Pair(lower, higher);
    }

    private void connectLower(Pair pair) {
        pair.lower().connect(far.gid, key(pair.higher()), clock.nowNanos());
    }

    private void connectHigher(Pair pair) {
        pair.higher().connect(near.gid, key(pair.lower()), clock.nowNanos());
    }

    private void exchange() {
        CmEnd.exchange(near, far);
        near.manager.expire(clock.nowNanos());
        far.manager.expire(clock.nowNanos());
        CmEnd.exchange(near, far);
    }

    private void assertEstablished(Pair pair) {
        assertThat(pair.lower().state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(pair.higher().state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(pair.lower().isRequester()).isTrue();
        assertThat(pair.higher().isRequester()).isFalse();
        assertThat(near.takeEvents()).isEqualTo("established");
        assertThat(far.takeEvents()).isEqualTo("established");
        Agreement one = CmEnd.agreement(pair.lower());
        Agreement other = CmEnd.agreement(pair.higher());
        assertThat(one.path().peerQueuePair()).isEqualTo(pair.higher().queuePairNumber());
        assertThat(other.path().peerQueuePair()).isEqualTo(pair.lower().queuePairNumber());
        assertThat(one.path().sendPsn()).isEqualTo(other.path().receivePsn());
        assertThat(other.path().sendPsn()).isEqualTo(one.path().receivePsn());
        assertThat(one.grants()).isEqualTo(CmEnd.TERMS.attachment().grants());
        assertThat(other.grants()).isEqualTo(CmEnd.TERMS.attachment().grants());
    }

    @Test
    void shouldSendTheRequestFromTheLowerKeyAfterTheOtherEndsCall() {
        Pair pair = exported();
        connectHigher(pair);
        assertThat(far.sent()).isEmpty();
        connectLower(pair);
        CmMessage.Req req = near.takeOnly(CmMessage.Req.class);
        assertThat(req.serviceId()).isEqualTo(ServiceId.BLOB);
        far.give(req, near.gid);
        exchange();
        assertEstablished(pair);
    }

    @Test
    void shouldAnswerAtOnceAfterItsOwnCallIfTheRequestHasComeBefore() {
        Pair pair = exported();
        connectLower(pair);
        exchange();
        assertThat(pair.higher().state()).isEqualTo(CmState.EXPORTED);
        assertThat(far.takeEvents()).as("its program has not called").isEmpty();
        connectHigher(pair);
        exchange();
        assertEstablished(pair);
    }

    @Test
    void shouldAnswerARepeatIfTheRequestThatCameBeforeIsTooOld() {
        Pair pair = exported();
        connectLower(pair);
        near.pass(far);
        near.advance(5 * CmEnd.SECOND);
        near.takeKinds();
        far.manager.expire(clock.nowNanos());
        assertThat(far.manager.count(CmCounter.GIVEN_UP)).isEqualTo(1);
        connectHigher(pair);
        assertThat(pair.higher().state()).isEqualTo(CmState.AWAITING_REQ);
        near.next();
        exchange();
        assertEstablished(pair);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void shouldConnectThoughAnyMessageIsLost(int lost) {
        Pair pair = exported();
        connectHigher(pair);
        connectLower(pair);
        if (lost == 0) {
            near.take();
            near.next();
        }
        near.pass(far);
        far.next();
        if (lost == 1) {
            far.take();
            far.next();
        }
        far.pass(near);
        if (lost == 2) {
            near.take();
            far.next();
            far.pass(near);
        }
        near.pass(far);
        assertEstablished(pair);
    }

    @Test
    void shouldFailBothWaitsAtTheirTimeouts() {
        Pair pair = exported();
        connectHigher(pair);
        far.advance(CmEnd.TERMS.connectTimeoutNanos());
        assertThat(far.takeEvents()).isEqualTo("ended:TIME_OUT released");
        assertThat(far.reason).contains("address=10.0.0.1, timeoutMillis=6000");
        assertThat(far.manager.held()).isZero();

        connectLower(pair);
        exchange(); // the other end is over
        assertThat(near.takeEvents()).isEqualTo("ended:CONNECTION_RESET released");
        assertThat(near.reason).contains("text=no connection has been exported with this key");
        assertThat(near.manager.held()).isZero();
    }

    @Test
    void shouldFailBothEndsIfTheOtherWasConnectedToAnotherBlob() {
        Pair pair = exported();
        CmConnection third = near.export();
        while (key(third).compareTo(key(pair.higher())) > 0) {
            third.disconnect(clock.nowNanos());
            third = near.export();
        }
        near.takeEvents();
        pair.higher().connect(near.gid, key(third), clock.nowNanos());
        connectLower(pair);
        exchange();
        assertThat(far.takeEvents()).isEqualTo("ended:AUTHENTICATION released");
        assertThat(near.takeEvents()).isEqualTo("ended:CONNECTION_RESET released");
    }

    @Test
    void shouldFailARequesterWhomAThirdEndRequests() {
        Pair pair = exported();
        connectLower(pair);
        near.takeKinds();
        FarEnd third = FarEnd.linux(near);
        near.give(third.req(new ConnectKey(0, 0), key(pair.lower())), third.gid());
        assertThat(near.takeEvents()).isEqualTo("ended:AUTHENTICATION");
        assertThat(near.takeKinds()).as("to the third, and to the peer").hasSize(2);
        assertThat(pair.lower().state()).isEqualTo(CmState.TIMEWAIT);
    }

    @Test
    void shouldRefuseARequestOfTheEndThatIsToWaitAndGoOn() {
        Pair pair = exported();
        connectLower(pair);
        near.takeKinds();
        FarEnd wrong = FarEnd.linux(near).withGid(far.gid);
        near.give(wrong.req(key(pair.higher()), key(pair.lower())), far.gid);
        CmMessage.Rej rej = near.takeOnly(CmMessage.Rej.class);
        assertThat(rej.reason()).isEqualTo(RejectReason.UNSUPPORTED);
        connectHigher(pair);
        near.next();
        exchange();
        assertEstablished(pair);
    }

    @Test
    void shouldKeepOneRequestOfThoseThatKnowItsKeyAndTakeTheRightOneLater() {
        Pair pair = exported();
        FarEnd foreign = FarEnd.linux(far);
        far.give(foreign.req(new ConnectKey(0, 0), key(pair.higher())), foreign.gid());
        connectLower(pair);
        exchange(); // not kept: there is one
        far.give(foreign.givenUp(), foreign.gid());
        near.next();
        exchange(); // the repeat is kept
        connectHigher(pair);
        exchange();
        assertEstablished(pair);
    }

    @Test
    void shouldRejectAKeptRequestWhoseQueuePairIsConnectedMeanwhile() {
        CmConnection end = far.export();
        FarEnd linux = FarEnd.linux(far);
        ConnectKey lowest = new ConnectKey(0, 0);
        far.give(linux.req(lowest, key(end)), linux.gid());
        FarEnd other = linux.withId(linux.id() + 1);
        far.give(other.req(new byte[0]), linux.gid());
        CmConnection there = far.request();
        far.accept(there, new byte[0]);
        far.give(other.rtu(there.localId()), linux.gid());
        far.takeKinds();
        end.connect(linux.gid(), lowest, clock.nowNanos());
        assertThat(far.takeKinds()).containsExactly("DREQ", "REJ");
        assertThat(there.state()).isEqualTo(CmState.DREQ_SENT);
        assertThat(end.state()).isEqualTo(CmState.AWAITING_REQ);
    }

    @Test
    void shouldRefuseAForeignRequestWhosePathMtuItCannotLower() {
        LocalTerms low =
                new LocalTerms(CmEnd.TERMS.attachment(), 1, 512, 1, 1, 17, 7, 6, CmEnd.SECOND);
        CmConnection end = far.manager.export(low, far);
        FarEnd linux = FarEnd.linux(far);
        ConnectKey lowest = new ConnectKey(0, 0);
        end.connect(linux.gid(), lowest, clock.nowNanos());
        far.give(linux.req(lowest, key(end)), linux.gid());
        assertThat(far.takeOnly(CmMessage.Rej.class).reason())
                .isEqualTo(RejectReason.INVALID_PATH_MTU);
        assertThat(end.state()).isEqualTo(CmState.AWAITING_REQ);
    }

    @Test
    void shouldNotConnectToABlobWithAnAddressOfTheOtherIpVersion() {
        CmConnection end = near.export();
        assertThatThrownBy(() ->
                        end.connect(
                                new Gid(0xfd77L << 48, 2), new ConnectKey(0, 0), clock.nowNanos()))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED));
        assertThat(end.state()).isEqualTo(CmState.EXPORTED);
    }

    @Test
    void shouldTakeNoFurtherRequestOnceItIsConnected() {
        Pair pair = exported();
        connectHigher(pair);
        connectLower(pair);
        exchange();
        assertEstablished(pair);
        FarEnd foreign = FarEnd.linux(far);
        far.give(foreign.req(key(pair.lower()), key(pair.higher())), foreign.gid());
        assertThat(far.takeOnly(CmMessage.Rej.class).reason())
                .isEqualTo(RejectReason.INVALID_SERVICE_ID);
        assertThat(pair.higher().state()).isEqualTo(CmState.ESTABLISHED);
    }

    @Test
    void shouldNotConnectToItsOwnBlobNorTwice() {
        CmConnection end = near.export();
        assertThatThrownBy(() -> end.connect(near.gid, key(end), clock.nowNanos()))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE));
        end.connect(far.gid, new ConnectKey(0, 0), clock.nowNanos());
        assertThatThrownBy(() -> end.connect(far.gid, new ConnectKey(0, 0), clock.nowNanos()))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.BAD_STATE));
    }

    @Test
    void shouldConnectTwoEndsOfOneManager() {
        CmConnection one = near.export();
        CmConnection other = near.export();
        one.connect(near.gid, key(other), clock.nowNanos());
        other.connect(near.gid, key(one), clock.nowNanos());
        for (int i = 0; i < 4; i++) {
            while (!near.sent().isEmpty()) {
                near.pass(near);
            }
            near.manager.expire(clock.nowNanos());
        }
        assertThat(one.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(other.state()).isEqualTo(CmState.ESTABLISHED);
        one.disconnect(clock.nowNanos());
        while (!near.sent().isEmpty()) {
            near.pass(near);
        }
        assertThat(one.state()).isEqualTo(CmState.TIMEWAIT);
        assertThat(other.state()).isEqualTo(CmState.TIMEWAIT);
    }

    @ParameterizedTest
    @CsvSource({"false", "true"})
    void shouldRejectWhatWaitsWhenItIsEnded(boolean connected) {
        Pair pair = exported();
        if (connected) {
            connectHigher(pair);
        } else {
            connectLower(pair);
            exchange();
        }
        pair.higher().disconnect(clock.nowNanos());
        assertThat(far.takeEvents()).isEqualTo("released");
        exchange();
        assertThat(near.takeEvents()).isEqualTo(connected ? "" : "ended:CONNECTION_RESET released");
        assertThat(far.manager.held()).isZero();
    }

    @Test
    void shouldCompareKeysAsUnsignedNumbers() {
        assertThat(new ConnectKey(-1, 0)).isGreaterThan(new ConnectKey(1, -1));
        assertThat(new ConnectKey(1, -1)).isGreaterThan(new ConnectKey(1, 1));
        assertThat(new ConnectKey(1, 1)).isEqualByComparingTo(new ConnectKey(1, 1));
        assertThat(new ConnectKey(0x1234, 0x5678)).hasToString("key");
    }
}
