package io.softdpu.rdma.roce.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.roce.adapter.Adapter;
import io.softdpu.rdma.roce.wire.CmAttribute;
import io.softdpu.rdma.roce.wire.CmCodec;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.CmMessage.About;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.RejectReason;
import io.softdpu.rdma.roce.wire.ServiceId;
import io.softdpu.testkit.FakeClock;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bad input of peers, and the limits of what a manager keeps. */
class CmHostileTest {
    private static final byte[] NO_DATA = {};

    private FakeClock clock;
    private SeededRandom random;
    private CmEnd near;
    private CmEnd far;
    private FarEnd linux;

    /** Of the last end in a flood. */
    private int number = 10;

    /** Connections that were accepted and not ended. */
    private final List<CmConnection> living = new ArrayList<>();

    @BeforeEach
    void open(SeededRandom seeded) {
        random = seeded;
        clock = new FakeClock();
        near = new CmEnd(1, clock, random);
        far = new CmEnd(2, clock, random);
        linux = FarEnd.linux(near);
    }

    private CmConnection established() {
        near.give(linux.req(NO_DATA), linux.gid());
        CmConnection there = near.request();
        near.accept(there, NO_DATA);
        near.give(linux.rtu(there.localId()), linux.gid());
        assertThat(there.state()).isEqualTo(CmState.ESTABLISHED);
        near.takeKinds();
        near.takeEvents();
        return there;
    }

    // ---- limits ----

    @Test
    @Tag(Soak.TAG)
    void shouldKeepFewRequestsOfAFloodAndNoneBeyondItsTimer() {
        CmConnection kept = established();
        int held = near.manager.held();
        for (int i = 0; i < Soak.count(1_000, 10_000, 100_000); i++) {
            FarEnd each =
                    linux.withGid(CmEnd.address(1000 + i))
                            .withId(random.nextInt())
                            .withQueuePair(random.nextInt(2, 1 << 24));
            near.give(each.req(NO_DATA), each.gid());
            assertThat(near.manager.requests()).isLessThanOrEqualTo(8);
            if (i >= 8) {
                CmMessage.Rej rej = near.takeOnly(CmMessage.Rej.class);
                assertThat(rej.reason()).isEqualTo(RejectReason.NO_RESOURCES);
                assertThat(rej.remoteId()).isEqualTo(each.id());
            }
        }
        assertThat(near.requests).hasSize(9);
        assertThat(near.manager.held()).isLessThanOrEqualTo(held + 5 * 8);
        near.advance(CmEnd.LIMITS.requestWaitNanos());
        assertThat(near.manager.requests()).isZero();
        assertThat(near.manager.held()).isEqualTo(held);
        assertThat(near.sent()).isEmpty();
        assertThat(kept.state()).isEqualTo(CmState.ESTABLISHED);
        near.give(linux.withId(5).withQueuePair(6).req(NO_DATA), linux.gid());
        assertThat(near.requests).as("there is a place again").hasSize(10);
    }

    @Test
    void shouldLeavePlacesToOthersInAFloodFromAFewAddresses() {
        assertThat(List.of(flood(1), flood(2), flood(3), flood(4), flood(5)))
                .as("half of what is left, and all in the end")
                .containsExactly(4, 2, 1, 1, 0);
        CmMessage.Rej rej = (CmMessage.Rej) near.take();
        assertThat(rej.reason()).isEqualTo(RejectReason.NO_RESOURCES);
        assertThat(Rejection.of(rej).describe())
                .endsWith("too many requests wait: ofAddress=4, waiting=4, limit=8");
        near.requests.getFirst().refuse("no place", clock.nowNanos());
        assertThat(flood(1)).as("it still has three, of the seven that wait").isZero();
        assertThat(flood(6)).isOne();
        near.advance(CmEnd.LIMITS.requestWaitNanos());
        assertThat(near.manager.held()).isZero();
        assertThat(flood(1)).isEqualTo(4);
    }

    /** Number of the requests of an address that find a place. */
    private int flood(int address) {
        return flood(CmEnd.address(1000 + address));
    }

    private int flood(Gid peer) {
        int before = near.requests.size();
        for (int i = 0; i < 10; i++) {
            number++;
            FarEnd each = linux.withGid(peer).withId(number);
            near.give(each.withQueuePair(number).req(NO_DATA), each.gid());
        }
        return near.requests.size() - before;
    }

    @Test
    void shouldCountTheRequestsOfAllAdaptersAtAnAddressTogether() {
        Gid usual = CmEnd.address(1001);
        assertThat(flood(usual)).isEqualTo(4);
        assertThat(flood(usual.withPort(Gid.FIRST_OTHER_PORT))).isZero();
        assertThat(flood(usual.withPort(Gid.FIRST_FLOW_PORT - 1))).isZero();
        near.advance(CmEnd.LIMITS.requestWaitNanos());
        assertThat(near.manager.held()).isZero();
        assertThat(flood(usual.withPort(Gid.FIRST_OTHER_PORT))).isEqualTo(4);
        assertThat(flood(usual)).isZero();
    }

    @Test
    void shouldForgetTheOldestRejectionForANewRequest() {
        List<FarEnd> ends = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            FarEnd each = linux.withId(i + 1).withQueuePair(i + 10);
            ends.add(each);
            near.give(each.req(NO_DATA), linux.gid());
            near.request().reject(NO_DATA, clock.nowNanos());
        }
        assertThat(near.requests).hasSize(9);
        assertThat(near.manager.requests()).isEqualTo(8);
        near.takeKinds();
        near.give(ends.get(1).req(NO_DATA), linux.gid());
        assertThat(near.takeKinds()).as("known").containsExactly("REJ");
        near.give(ends.get(0).req(NO_DATA), linux.gid());
        assertThat(near.requests).as("forgotten, and so reported again").hasSize(10);
    }

    @Test
    void shouldHaveNoPlaceBeyondItsLimitsTimewaitIncluded() {
        List<CmConnection> made = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            made.add(near.connect(far.gid, NO_DATA));
        }
        assertFull(
                "no place for a further connection: connections=8, limit=8, timeWaits=0,"
                        + " expected=the end of one, and of its TIMEWAIT");
        for (int i = 0; i < 8; i++) {
            made.get(i).disconnect(clock.nowNanos());
            made.set(i, near.connect(far.gid, NO_DATA));
        }
        assertThat(near.manager.timeWaits()).isEqualTo(8);
        assertThat(near.manager.connections()).isEqualTo(8);
        made.getFirst().disconnect(clock.nowNanos());
        assertFull(
                "no place for a further connection: connections=7, limit=8, timeWaits=9,"
                        + " expected=the end of one, and of its TIMEWAIT");
        near.give(linux.req(NO_DATA), linux.gid());
        CmConnection request = near.request();
        assertThatThrownBy(() -> near.accept(request, NO_DATA))
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.FULL));
        assertThat(request.state()).as("can be answered again").isEqualTo(CmState.REQ_RECEIVED);
        near.advance(CmEnd.LIMITS.timeWaitNanos());
        near.accept(request, NO_DATA);
        assertThat(request.state()).isEqualTo(CmState.REP_SENT);
    }

    private void assertFull(String message) {
        for (Runnable begin :
                List.<Runnable>of(() -> near.connect(far.gid, NO_DATA), () -> near.export())) {
            assertThatThrownBy(begin::run)
                    .isInstanceOfSatisfying(
                            DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.FULL))
                    .hasMessage(message);
        }
    }

    @Test
    @Tag(Soak.TAG)
    void shouldHoldNoMoreAfterManyConnectionsThanAfterTheTenth() {
        int connections = Soak.count(1_000, 10_000, 100_000);
        long begin = System.nanoTime();
        int nearHeld = 0;
        int farHeld = 0;
        int nearPairs = 0;
        for (int i = 1; i <= connections; i++) {
            CmConnection here = near.connect(far.gid, NO_DATA);
            CmEnd.exchange(near, far);
            CmConnection there = far.requests.removeLast();
            far.accept(there, NO_DATA);
            CmEnd.exchange(near, far);
            assertThat(here.state()).isEqualTo(CmState.ESTABLISHED);
            (i % 2 == 0 ? here : there).disconnect(clock.nowNanos());
            CmEnd.exchange(near, far);
            near.takeEvents();
            far.takeEvents();
            near.advance(CmEnd.SECOND);
            far.manager.expire(clock.nowNanos());
            if (i == 10) {
                nearHeld = near.manager.held();
                farHeld = far.manager.held();
                nearPairs = near.adapter.queuePairs();
            }
        }
        assertThat(near.manager.held()).isEqualTo(nearHeld);
        assertThat(far.manager.held()).isEqualTo(farHeld);
        assertThat(near.adapter.queuePairs()).isEqualTo(nearPairs).isPositive();
        assertThat(far.adapter.queuePairs()).isEqualTo(nearPairs);
        near.advance(CmEnd.LIMITS.timeWaitNanos());
        far.manager.expire(clock.nowNanos());
        assertThat(near.manager.held() + far.manager.held()).isZero();
        assertThat(near.adapter.queuePairs() + far.adapter.queuePairs()).isZero();
        assertThat(near.manager.nextDeadline()).isEqualTo(Adapter.NO_DEADLINE);
        Soak.report(
                "roce-cm-connections",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                "connections=" + connections + ", held=" + nearHeld + ", queuePairs=" + nearPairs);
    }

    // ---- messages of no connection, or of another ----

    @Test
    void shouldIgnoreMessagesWithWrongNumbersOrFromAnotherAddress() {
        CmConnection connection = established();
        CmConnection requested = near.connect(linux.gid(), NO_DATA);
        near.takeKinds();
        int id = connection.localId();
        Gid other = CmEnd.address(0x98);
        FarEnd wrong = linux.withId(linux.id() + 1);
        List<CmMessage> messages =
                List.of(
                        wrong.rtu(id),
                        wrong.rej(id, About.OTHER, RejectReason.CONSUMER, NO_DATA),
                        wrong.drep(id),
                        wrong.mra(id, About.REP, 20),
                        linux.dreq(id, connection.queuePairNumber() + 1),
                        linux.rtu(id + 1),
                        linux.mra(id + 1, About.REP, 20),
                        linux.drep(id + 1),
                        linux.rej(id + 1, About.REQ, RejectReason.CONSUMER, NO_DATA),
                        linux.withId(4).givenUp());
        for (CmMessage message : messages) {
            near.give(message, linux.gid());
        }
        List<CmMessage> right =
                List.of(
                        linux.rej(requested.localId(), About.REQ, RejectReason.CONSUMER, NO_DATA),
                        linux.rtu(id),
                        linux.rej(id, About.OTHER, RejectReason.CONSUMER, NO_DATA),
                        linux.drep(id));
        for (CmMessage message : right) {
            near.give(message, other);
        }
        assertThat(connection.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(requested.state()).isEqualTo(CmState.REQ_SENT);
        assertThat(near.takeEvents()).isEmpty();
        assertThat(near.sent()).isEmpty();
        assertThat(near.manager.count(CmCounter.UNKNOWN)).isEqualTo(14);
        near.give(linux.rep(id + 1, NO_DATA), linux.gid());
        near.give(linux.rep(requested.localId(), NO_DATA), other);
        assertThat(near.takeKinds()).containsExactly("REJ", "REJ");
        assertThat(requested.state()).isEqualTo(CmState.REQ_SENT);
        near.give(linux.dreq(id, connection.queuePairNumber()), other);
        assertThat(near.takeKinds()).containsExactly("DREP");
        assertThat(connection.state()).isEqualTo(CmState.ESTABLISHED);
    }

    @Test
    void shouldTakeTwoPeersWithTheSameNumbersForTwo() {
        near.give(linux.req(NO_DATA), linux.gid());
        FarEnd twin = linux.withGid(CmEnd.address(0x98));
        near.give(twin.req(NO_DATA), twin.gid());
        assertThat(near.requests).hasSize(2);
        near.accept(near.requests.get(0), NO_DATA);
        near.accept(near.requests.get(1), NO_DATA);
        assertThat(near.requests).extracting(CmConnection::state).containsOnly(CmState.REP_SENT);
    }

    @Test
    void shouldRefuseARequestWhoseGidIsNotItsSource() {
        near.give(linux.req(NO_DATA), CmEnd.address(0x98));
        assertRefused("local GID of the request is not its source: gid=10.0.0.153,");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldRefuseQueuePairsThatAreNotOfConnections(int number) {
        near.give(linux.withQueuePair(number).req(NO_DATA), linux.gid());
        assertRefused("queue pair is not of a connection: queuePair=" + number);
        CmConnection here = near.connect(linux.gid(), NO_DATA);
        near.takeKinds();
        near.give(linux.withQueuePair(number).rep(here.localId(), NO_DATA), linux.gid());
        assertThat(near.takeOnly(CmMessage.Rej.class).about()).isEqualTo(About.REP);
        assertThat(near.takeEvents()).isEqualTo("ended:INVALID_VALUE");
        assertThat(here.state()).isEqualTo(CmState.TIMEWAIT);
    }

    @Test
    void shouldRefuseAnotherService() {
        near.give(linux.req(ServiceId.ofPort(CmEnd.PORT) + (1L << 32), NO_DATA), linux.gid());
        CmMessage.Rej rej = near.takeOnly(CmMessage.Rej.class);
        assertThat(rej.reason()).isEqualTo(RejectReason.INVALID_SERVICE_ID);
        assertThat(near.requests).isEmpty();
    }

    private void assertRefused(String text) {
        CmMessage.Rej rej = near.takeOnly(CmMessage.Rej.class);
        assertThat(rej.reason()).isEqualTo(RejectReason.UNSUPPORTED);
        assertThat(rej.remoteId()).isEqualTo(linux.id());
        Explanation explanation = Explanation.decode(rej.information(), 148);
        assertThat(explanation).isNotNull();
        assertThat(explanation.byLibrary()).isTrue();
        assertThat(Explanation.foreignText(rej.privateData(), 0, explanation.dataBytes()))
                .contains(text);
        assertThat(near.requests).isEmpty();
        assertThat(near.manager.held()).isZero();
    }

    // ---- private data ----

    private static long guid(int privateDataBytes) {
        return new EndGuid(Permissions.LOCAL_READ_ONLY, privateDataBytes, 1, 3, 7).encode();
    }

    @Test
    void shouldRefuseALengthOfPrivateDataThatTheMessageHasNoPlaceFor() {
        near.give(linux.withGuid(guid(57)).req(NO_DATA), linux.gid());
        assertRefused("field=privateDataBytes, value=57, expected=0 to 56");
        CmConnection here = near.connect(linux.gid(), NO_DATA);
        near.takeKinds();
        near.give(linux.withGuid(guid(197)).rep(here.localId(), NO_DATA), linux.gid());
        CmMessage.Rej rej = near.takeOnly(CmMessage.Rej.class);
        assertThat(rej.reason()).isEqualTo(RejectReason.UNSUPPORTED);
        assertThat(near.takeEvents()).isEqualTo("ended:INVALID_VALUE");
        assertThat(near.reason).contains("value=197, expected=0 to 196");

        CmConnection rejected = near.connect(linux.gid(), NO_DATA);
        byte[] information = new Explanation(guid(0), false, 149).encode();
        near.give(
                new CmMessage.Rej(
                        1,
                        0,
                        rejected.localId(),
                        About.REQ,
                        RejectReason.CONSUMER,
                        information,
                        new byte[] {1}),
                linux.gid());
        assertThat(near.rejections.get(rejected))
                .as("as that of a peer that states nothing")
                .isEqualTo(Arrays.copyOf(new byte[] {1}, 148));
    }

    @Test
    void shouldTakeTheStatedPartOfPrivateDataAlone() {
        near.give(linux.withGuid(guid(2)).req(new byte[] {1, 2, 3, 4}), linux.gid());
        assertThat(near.request().peerData()).containsExactly(1, 2);
    }

    @Test
    void shouldRefuseARequestWithoutTheAddressingHeader() {
        byte[] data = new byte[92];
        data[0] = 0x10;
        near.give(linux.req(ServiceId.ofPort(CmEnd.PORT), data), linux.gid());
        assertRefused("field=version of the IP addressing header, value=16");
    }

    // ---- other kinds, and no messages ----

    @ParameterizedTest
    @EnumSource(
            value = CmAttribute.class,
            names = {"SIDR_REQ", "SIDR_REP", "LAP", "APR"})
    void shouldCountKindsThatItDoesNotUseWithoutAnAnswer(CmAttribute attribute) {
        CmConnection connection = established();
        byte[] bytes = CmCodec.encode(linux.rtu(connection.localId()));
        bytes[17] = (byte) attribute.code();
        near.give(bytes, linux.gid());
        assertThat(near.manager.count(CmCounter.NOT_SUPPORTED)).isEqualTo(1);
        assertThat(near.sent()).isEmpty();
        assertThat(connection.state()).isEqualTo(CmState.ESTABLISHED);
    }

    @Test
    void shouldCountWhatIsNoMessage() {
        near.give(new byte[256], linux.gid());
        near.give(new byte[0], linux.gid());
        near.give(Arrays.copyOf(CmCodec.encode(linux.req(NO_DATA)), 255), linux.gid());
        near.give(Arrays.copyOf(CmCodec.encode(linux.req(NO_DATA)), 260), linux.gid());
        assertThat(near.manager.count(CmCounter.MALFORMED)).isEqualTo(4);
        assertThat(near.sent()).isEmpty();
        assertThat(near.requests).isEmpty();
    }

    @Test
    void shouldRefuseARequestWithIllegalFields() {
        byte[] bytes = CmCodec.encode(linux.req(NO_DATA));
        bytes[24 + 50] = 0x60; // path MTU
        near.give(bytes, linux.gid());
        assertThat(near.manager.count(CmCounter.MALFORMED)).isEqualTo(1);
        CmMessage.Rej rej = near.takeOnly(CmMessage.Rej.class);
        assertThat(rej.transactionId()).isEqualTo(FarEnd.TRANSACTION);
        assertThat(rej.remoteId()).isEqualTo(linux.id());
        assertThat(rej.reason()).isEqualTo(RejectReason.UNSUPPORTED);
    }

    @Test
    void shouldTakeDatagramsWithTheQueueKeyOfConnectionManagementAlone() {
        byte[] req = CmCodec.encode(linux.req(NO_DATA));
        near.give(req, CmCodec.QUEUE_KEY + 1, linux.gid());
        assertThat(near.requests).isEmpty();
        assertThat(near.manager.count(CmCounter.QUEUE_KEY)).isEqualTo(1);
        near.give(req, CmCodec.QUEUE_KEY, linux.gid());
        assertThat(near.requests).hasSize(1);
    }

    @Test
    void shouldCountMessagesForWhichThereIsNoPlace() {
        for (int i = 0; i < 66; i++) {
            near.give(linux.dreq(4711, 5), linux.gid());
        }
        assertThat(near.manager.count(CmCounter.NOT_SENT)).isEqualTo(2);
        assertThat(near.sent()).hasSize(64);
    }

    @Test
    @Tag(Soak.TAG)
    void shouldKeepItsConnectionsAndLimitsWhateverComes() {
        int rounds = Soak.count(5_000, 200_000, 2_000_000);
        long begin = System.nanoTime();
        CmConnection kept = established();
        int mostHeld = 0;
        for (int round = 0; round < rounds; round++) {
            // From other addresses: messages of the peer itself may end its connection.
            FarEnd each =
                    linux.withGid(CmEnd.address(random.nextInt(0x200, 0x210)))
                            .withId(random.nextInt(20))
                            .withQueuePair(random.nextInt(2, 40));
            byte[] bytes = CmCodec.encode(any(each));
            near.give(random.chance(0.3) ? random.damaged(bytes) : bytes, each.gid());
            if (!near.requests.isEmpty() && random.chance(0.3)) {
                answer(near.requests.removeLast());
            }
            if (random.chance(0.02)) {
                near.advance(random.nextLong(CmEnd.SECOND));
            }
            near.sent().clear();
            near.destinations.clear();
            near.events.clear();
            mostHeld = Math.max(mostHeld, near.manager.held());
            assertThat(near.manager.requests()).isLessThanOrEqualTo(8);
            assertThat(near.manager.connections()).isLessThanOrEqualTo(8);
            assertThat(near.manager.timeWaits()).isLessThanOrEqualTo(16);
            assertThat(near.manager.held()).isLessThanOrEqualTo(5 * 24 + 8);
            assertThat(kept.state()).isEqualTo(CmState.ESTABLISHED);
        }
        for (CmConnection each : living) {
            each.disconnect(clock.nowNanos());
        }
        near.advance(CmEnd.LIMITS.requestWaitNanos() + CmEnd.LIMITS.disconnectNanos());
        assertThat(near.manager.connections()).isEqualTo(1);
        assertThat(near.manager.requests() + near.manager.timeWaits()).isZero();
        Soak.report(
                "roce-cm-hostile",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                "messages=" + rounds + ", mostHeld=" + mostHeld);
    }

    private void answer(CmConnection request) {
        if (request.state() != CmState.REQ_RECEIVED) {
            return;
        }
        if (random.nextBoolean()) {
            request.reject(NO_DATA, clock.nowNanos());
            return;
        }
        try {
            near.accept(request, NO_DATA);
            living.add(request);
        } catch (DpuException e) {
            assertThat(e.status()).isEqualTo(Status.FULL);
        }
        if (living.size() > 4) {
            living.removeFirst().disconnect(clock.nowNanos());
        }
    }

    private CmMessage any(FarEnd each) {
        int id =
                living.isEmpty() || random.chance(0.2)
                        ? random.nextInt()
                        : living.get(random.nextInt(living.size())).localId();
        return each.any(random, id, random.nextInt(0x100, 0x110));
    }
}
