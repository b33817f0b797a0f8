package io.softdpu.rdma.roce.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.roce.adapter.Adapter;
import io.softdpu.rdma.roce.wire.CmCodec;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.CmMessage.About;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.roce.wire.RejectReason;
import io.softdpu.rdma.roce.wire.ServiceId;
import io.softdpu.testkit.FakeClock;
import io.softdpu.testkit.SeededRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections by address: between two managers, and with a peer of handmade messages. */
class CmConnectTest {
    private static final byte[] NO_DATA = {};

    private FakeClock clock;
    private SeededRandom random;
    private CmEnd near;
    private CmEnd far;

    @BeforeEach
    void open(SeededRandom seeded) {
        random = seeded;
        clock = new FakeClock();
        near = new CmEnd(1, clock, random);
        far = new CmEnd(2, clock, random);
    }

    /** Both ends of a connection that {@link #near} has requested. */
    private record Pair(CmConnection here, CmConnection there) {}

    private Pair established() {
        CmConnection here = near.connect(far.gid, NO_DATA);
        CmEnd.exchange(near, far);
        CmConnection there = far.request();
        far.accept(there, NO_DATA);
        CmEnd.exchange(near, far);
        near.takeEvents();
        far.takeEvents();
        return new Pair(here, there);
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "1, 1", "56, 196", "17, 60"})
    void shouldConnectWithTheDataOfBothProgramsInTheirLengths(int request, int answer) {
        byte[] asked = random.bytes(request);
        byte[] answered = random.bytes(answer);
        CmConnection here = near.connect(far.gid, asked);
        CmEnd.exchange(near, far);
        CmConnection there = far.request();
        assertThat(there.peerData()).isEqualTo(asked);
        assertThat(there.peer()).isEqualTo(near.gid);
        assertThat(there.port()).isEqualTo(CmEnd.PORT);
        assertThat(there.state()).isEqualTo(CmState.REQ_RECEIVED);
        far.accept(there, answered);
        CmEnd.exchange(near, far);

        assertThat(here.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(there.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(here.peerData()).isEqualTo(answered);
        assertThat(near.takeEvents()).isEqualTo("established");
        assertThat(far.takeEvents()).isEqualTo("requested established");
        assertThat(near.manager.nextDeadline()).isEqualTo(Adapter.NO_DEADLINE);
        assertThat(far.manager.nextDeadline()).isEqualTo(Adapter.NO_DEADLINE);
    }

    @Test
    void shouldRefuseDataBeyondTheLimits() {
        assertThatThrownBy(() -> near.connect(far.gid, new byte[57]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("private data is too long: sizeBytes=57, limit=56");
        near.connect(far.gid, NO_DATA);
        CmEnd.exchange(near, far);
        CmConnection there = far.request();
        assertThatThrownBy(() -> far.accept(there, new byte[197]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("sizeBytes=197, limit=196");
        assertThatThrownBy(() -> there.reject(new byte[149], clock.nowNanos()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("sizeBytes=149, limit=148");
        assertThat(there.state()).isEqualTo(CmState.REQ_RECEIVED);
    }

    @Test
    void shouldAgreeOnQueuePairsSequenceNumbersAndGrants() {
        LocalTerms low =
                new LocalTerms(
                        CmEnd.attachment(
                                Permissions.of(AccessFlag.RDMA_WRITE, AccessFlag.LOCAL_READ_WRITE)),
                        1 << 20,
                        1024,
                        3,
                        200,
                        17,
                        7,
                        6,
                        CmEnd.SECOND);
        CmConnection here = near.connect(far.gid, NO_DATA, low);
        CmEnd.exchange(near, far);
        CmConnection there = far.request();
        assertThat(there.peerGrants()).isEqualTo(Permissions.of(AccessFlag.RDMA_WRITE));
        far.accept(there, NO_DATA);
        CmEnd.exchange(near, far);

        Agreement one = CmEnd.agreement(here);
        Agreement other = CmEnd.agreement(there);
        assertThat(one.path().peer()).isEqualTo(far.gid);
        assertThat(other.path().peer()).isEqualTo(near.gid);
        assertThat(one.path().peerQueuePair()).isEqualTo(there.queuePairNumber());
        assertThat(other.path().peerQueuePair()).isEqualTo(here.queuePairNumber());
        assertThat(one.path().sendPsn()).isEqualTo(other.path().receivePsn());
        assertThat(one.path().receivePsn()).isEqualTo(other.path().sendPsn());
        assertThat(one.path().mtuBytes()).isEqualTo(1024);
        assertThat(other.path().mtuBytes()).isEqualTo(1024);
        assertThat(one.path().responderResources()).as("3 here, a depth of 8 there").isEqualTo(3);
        assertThat(other.path().initiatorDepth()).isEqualTo(3);
        assertThat(one.path().initiatorDepth()).as("200 here, 16 resources there").isEqualTo(16);
        assertThat(other.path().responderResources()).isEqualTo(16);
        assertThat(one.path().rnrRetries()).isEqualTo(5);
        assertThat(other.path().rnrRetries()).isEqualTo(6);
        assertThat(one.grants())
                .isEqualTo(Permissions.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_ATOMIC));
        assertThat(other.grants()).isEqualTo(Permissions.of(AccessFlag.RDMA_WRITE));
        assertThat(one.receiveBufferBytes()).as("of 300,000").isEqualTo(1 << 18);
        assertThat(other.receiveBufferBytes()).isEqualTo(1 << 20);
    }

    @Test
    void shouldTakeTheLowerPathMtuOfTheListener() {
        LocalTerms low =
                new LocalTerms(CmEnd.TERMS.attachment(), 1, 512, 1, 1, 17, 7, 6, CmEnd.SECOND);
        CmConnection here = near.connect(far.gid, NO_DATA);
        CmEnd.exchange(near, far);
        CmConnection there = far.request();
        there.accept(NO_DATA, low, far, clock.nowNanos());
        far.manager.expire(clock.nowNanos());
        CmEnd.exchange(near, far);

        assertThat(CmEnd.agreement(here).path().mtuBytes()).isEqualTo(512);
        assertThat(CmEnd.agreement(there).path().mtuBytes()).isEqualTo(512);
        assertThat(CmEnd.agreement(here).receiveBufferBytes()).isEqualTo(1);
        assertThat(CmEnd.agreement(here).isWithSoftdpu()).isTrue();
    }

    @Test
    void shouldNotAskForAPeerThatMayNotBeConnectedYet() {
        near.connect(far.gid, NO_DATA);
        near.pass(far);
        far.accept(far.request(), NO_DATA);
        assertThat(far.adapter.nextDeadline())
                .as("that of the REP alone")
                .isEqualTo(far.manager.nextDeadline());
        far.pass(near);
        near.pass(far);
        assertThat(far.manager.nextDeadline()).isEqualTo(Adapter.NO_DEADLINE);
        assertThat(far.adapter.nextDeadline()).isNotEqualTo(Adapter.NO_DEADLINE);
    }

    @Test
    void shouldSendTheReplyNotBeforeTheNextExpire() {
        near.connect(far.gid, NO_DATA);
        CmEnd.exchange(near, far);
        CmConnection there = far.request();
        there.accept(NO_DATA, CmEnd.TERMS, far, clock.nowNanos());
        assertThat(far.takeEvents()).isEqualTo("requested");
        assertThat(CmEnd.agreement(there).path().peer()).isEqualTo(near.gid);
        assertThat(far.sent()).isEmpty();
        assertThat(far.manager.nextDeadline()).isEqualTo(clock.nowNanos());
        far.manager.expire(clock.nowNanos());
        assertThat(far.takeKinds()).containsExactly("REP");
    }

    @Test
    void shouldServeNoMoreDeadlinesAtATimeThanTheLimit() {
        for (int i = 0; i < 3; i++) {
            near.connect(far.gid, NO_DATA);
            CmEnd.exchange(near, far);
            far.request().accept(NO_DATA, CmEnd.TERMS, far, clock.nowNanos());
        }
        far.manager.expire(clock.nowNanos(), 2);
        assertThat(far.takeKinds()).containsExactly("REP", "REP");
        assertThat(far.manager.nextDeadline()).as("of the rest").isEqualTo(clock.nowNanos());
        far.manager.expire(clock.nowNanos(), 2);
        assertThat(far.takeKinds()).containsExactly("REP");
    }

    // ---- an end that does not state what softdpu does ----

    @Test
    void shouldTakeAPeerWithoutThePrefixAsGrantingAllWithItsWholeData() {
        FarEnd linux = FarEnd.linux(near);
        near.give(linux.req(new byte[] {7}), linux.gid());
        CmConnection request = near.request();
        assertThat(request.peerGrants()).isEqualTo(EndGuid.ALL);
        assertThat(request.peerData()).isEqualTo(Arrays.copyOf(new byte[] {7}, 56));
        request.accept(NO_DATA, CmEnd.TERMS, near, clock.nowNanos());
        Agreement agreement = CmEnd.agreement(request);
        assertThat(agreement.path().mtuBytes()).as("that of the REQ").isEqualTo(1024);
        assertThat(agreement.path().sendPsn()).isEqualTo(FarEnd.PSN);
        assertThat(agreement.receiveBufferBytes()).isZero();
        assertThat(agreement.isWithSoftdpu()).isFalse();

        CmConnection here = near.connect(linux.gid(), NO_DATA);
        FarEnd other = linux.withQueuePair(linux.queuePair() + 1);
        near.give(other.rep(here.localId(), new byte[] {8}), linux.gid());
        assertThat(here.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(here.peerGrants()).isEqualTo(EndGuid.ALL);
        assertThat(here.peerData()).isEqualTo(Arrays.copyOf(new byte[] {8}, 196));
        assertThat(CmEnd.agreement(here).path().mtuBytes()).isEqualTo(4096);

        CmConnection rejected = near.connect(linux.gid(), NO_DATA);
        near.give(
                linux.withId(0)
                        .rej(rejected.localId(), About.REQ, RejectReason.CONSUMER, new byte[] {9}),
                linux.gid());
        assertThat(near.rejections.get(rejected)).isEqualTo(Arrays.copyOf(new byte[] {9}, 148));
    }

    @ParameterizedTest
    @CsvSource({"3, 1024, true", "3, 512, false", "5, 2048, false", "1, 256, true"})
    void shouldRefuseAPathMtuOfSuchAPeerThatItCannotLower(int code, int limit, boolean accepted) {
        LocalTerms terms =
                new LocalTerms(CmEnd.TERMS.attachment(), 1, limit, 1, 1, 17, 7, 6, CmEnd.SECOND);
        FarEnd linux = FarEnd.linux(near);
        byte[] data = linux.req(NO_DATA).privateData();
        near.give(linux.req(ServiceId.ofPort(CmEnd.PORT), data, 20, code), linux.gid());
        CmConnection request = near.request();
        assertThat(request.fixedPathMtuBytes()).isEqualTo(128 << code);
        if (accepted) {
            request.accept(NO_DATA, terms, near, clock.nowNanos());
            assertThat(CmEnd.agreement(request).path().mtuBytes()).isEqualTo(128 << code);
        } else {
            assertThatThrownBy(() -> request.accept(NO_DATA, terms, near, clock.nowNanos()))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED));
            CmMessage.Rej rej = near.takeOnly(CmMessage.Rej.class);
            assertThat(rej.reason()).isEqualTo(26);
            assertThat(rej.remoteId()).isEqualTo(linux.id());
            assertThat(Rejection.of(rej).describe())
                    .isEqualTo(
                            "reason=invalid path MTU, text=path MTU of the request is too large:"
                                    + " pathMtuBytes="
                                    + (128 << code)
                                    + ", limit="
                                    + limit);
            near.advance(20 * CmEnd.SECOND);
            assertThat(near.manager.held()).as("once it is not repeated").isZero();
        }
    }

    // ---- lost, repeated and reordered messages ----

    @Test
    void shouldRepeatARequestAfter50MillisecondsDoublingToASecondUntilTheTimeout() {
        long begin = clock.nowNanos();
        CmConnection here = near.connect(far.gid, NO_DATA);
        List<Long> times = new ArrayList<>();
        byte[] first = near.sent().peek();
        while (here.state() == CmState.REQ_SENT) {
            while (!near.sent().isEmpty()) {
                assertThat(near.sent().peek()).isEqualTo(first);
                assertThat(near.take()).isInstanceOf(CmMessage.Req.class);
                times.add((clock.nowNanos() - begin) / CmEnd.MILLI);
            }
            near.next();
        }
        assertThat(times)
                .containsExactly(0L, 50L, 150L, 350L, 750L, 1550L, 2550L, 3550L, 4550L, 5550L);
        assertThat(clock.nowNanos() - begin).isEqualTo(CmEnd.TERMS.connectTimeoutNanos());
        assertThat(near.takeEvents()).isEqualTo("ended:TIME_OUT");
        assertThat(near.reason)
                .isEqualTo(
                        "RDMA connection was not established in time: address=10.0.0.2,"
                                + " port=7174, timeoutMillis=6000");
        CmMessage.Rej rej = near.takeOnly(CmMessage.Rej.class);
        assertThat(rej.reason()).isEqualTo(RejectReason.TIMEOUT);
        assertThat(rej.about()).isEqualTo(About.OTHER);
        assertThat(here.state()).isEqualTo(CmState.TIMEWAIT);
        near.next();
        assertThat(near.takeEvents()).isEqualTo("released");
        assertThat(near.manager.held()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void shouldConnectThoughAnyMessageIsLost(int lost) {
        CmConnection here = near.connect(far.gid, NO_DATA);
        if (lost == 0) {
            near.take();
            near.next();
        }
        near.pass(far);
        CmConnection there = far.request();
        far.accept(there, NO_DATA);
        if (lost == 1) {
            far.take();
            far.next();
        }
        far.pass(near);
        assertThat(here.state()).isEqualTo(CmState.ESTABLISHED);
        if (lost == 2) {
            near.takeOnly(CmMessage.Rtu.class);
            far.next();
            far.pass(near); // the REP again, which is answered by another RTU
        }
        near.pass(far);
        assertThat(there.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(near.takeEvents()).isEqualTo("established");
        assertThat(far.takeEvents()).isEqualTo("requested established");
        assertThat(near.sent()).isEmpty();
        assertThat(far.sent()).isEmpty();
    }

    @Test
    void shouldAnswerARepeatedRequestByItsReplyAtOnceButNotEachOfMany() {
        near.connect(far.gid, NO_DATA);
        byte[] req = near.sent().peek();
        near.pass(far);
        far.accept(far.request(), NO_DATA);
        assertThat(far.takeKinds()).containsExactly("REP");
        for (int i = 0; i < 100; i++) {
            far.give(req, near.gid);
        }
        assertThat(far.sent()).isEmpty();
        assertThat(far.manager.nextDeadline()).isEqualTo(clock.nowNanos());
        far.manager.expire(clock.nowNanos());
        assertThat(far.takeKinds()).containsExactly("REP");
        assertThat(far.takeEvents()).isEqualTo("requested");
    }

    @Test
    void shouldCountThePacketOfThePeerAsItsLostReadiness() {
        near.connect(far.gid, NO_DATA);
        near.pass(far);
        CmConnection there = far.request();
        far.accept(there, NO_DATA);
        far.pass(near);
        near.take();
        CmEnd.contact(there, Opcode.ACKNOWLEDGE, clock.nowNanos());
        assertThat(there.state()).isEqualTo(CmState.ESTABLISHED);
        CmEnd.contact(there, Opcode.ACKNOWLEDGE, clock.nowNanos());
        assertThat(far.takeEvents()).isEqualTo("requested established");
        assertThat(far.manager.nextDeadline()).isEqualTo(Adapter.NO_DEADLINE);
    }

    @Test
    void shouldDoNothingTwiceForMessagesThatComeTwice() {
        CmConnection here = near.connect(far.gid, NO_DATA);
        byte[] req = near.sent().peek();
        near.pass(far);
        far.give(req, near.gid);
        CmConnection there = far.request();
        far.accept(there, NO_DATA);
        byte[] rep = far.sent().peek();
        far.pass(near);
        byte[] rtu = near.sent().peek();
        near.pass(far);
        far.give(rtu, near.gid);
        far.give(req, near.gid);
        near.give(rep, far.gid);
        assertThat(near.takeKinds()).as("a REP may be repeated for an RTU").containsExactly("RTU");
        here.disconnect(clock.nowNanos());
        byte[] dreq = near.sent().peek();
        near.pass(far);
        far.give(dreq, near.gid);
        byte[] drep = far.sent().peek();
        CmEnd.exchange(near, far);
        near.give(drep, far.gid);
        assertThat(near.takeEvents()).isEqualTo("established");
        assertThat(far.takeEvents()).isEqualTo("requested established ended:SUCCESS");
        assertThat(far.requests).hasSize(1);
        assertThat(here.state()).isEqualTo(CmState.TIMEWAIT);
        assertThat(there.state()).isEqualTo(CmState.TIMEWAIT);
        assertThat(far.manager.count(CmCounter.REPEATED)).isEqualTo(4);
        assertThat(near.manager.count(CmCounter.REPEATED)).isEqualTo(3);
    }

    @Test
    void shouldTakeADisconnectThatOvertakesTheReadiness() {
        CmConnection here = near.connect(far.gid, NO_DATA);
        near.pass(far);
        CmConnection there = far.request();
        far.accept(there, NO_DATA);
        far.pass(near);
        here.disconnect(clock.nowNanos());
        CmMessage rtu = near.take();
        near.pass(far);
        assertThat(far.takeEvents()).isEqualTo("requested ended:SUCCESS");
        far.pass(near);
        assertThat(here.state()).isEqualTo(CmState.TIMEWAIT);
        far.give(rtu, near.gid);
        assertThat(there.state()).isEqualTo(CmState.TIMEWAIT);
        assertThat(far.sent()).as("nothing was rejected").isEmpty();
    }

    @Test
    void shouldRejectTheReplyToARequestThatWasEnded() {
        CmConnection here = near.connect(far.gid, NO_DATA);
        near.pass(far);
        CmConnection there = far.request();
        far.accept(there, NO_DATA);
        here.disconnect(clock.nowNanos());
        near.take(); // the REJ is lost
        far.pass(near);
        CmMessage.Rej rej = near.takeOnly(CmMessage.Rej.class);
        assertThat(rej.about()).isEqualTo(About.REP);
        far.give(rej, near.gid);
        assertThat(far.takeEvents()).isEqualTo("requested ended:CONNECTION_RESET");
        assertThat(far.reason)
                .isEqualTo(
                        "the peer has rejected the connection: reason=timeout,"
                                + " text=request was ended");
        assertThat(near.takeEvents()).isEmpty();
    }

    @Test
    void shouldStopRepeatingForAsLongAsThePeerAsksButNotBeyondTheTimeout() {
        FarEnd linux = FarEnd.linux(near);
        CmConnection here = near.connect(linux.gid(), NO_DATA);
        near.takeKinds();
        near.give(linux.mra(here.localId(), About.REQ, 19), linux.gid()); // 2.1 s
        near.advance(2 * CmEnd.SECOND);
        assertThat(near.sent()).isEmpty();
        near.advance(CmEnd.SECOND / 2);
        assertThat(near.takeKinds()).isNotEmpty().containsOnly("REQ");
        near.give(linux.mra(here.localId(), About.REQ, 31), linux.gid()); // 2.4 h
        near.advance(4 * CmEnd.SECOND);
        assertThat(near.takeEvents()).startsWith("ended:TIME_OUT");
        assertThat(near.takeKinds()).containsExactly("REJ");
    }

    @Test
    void shouldNotRepeatEarlierForAnMra() {
        FarEnd linux = FarEnd.linux(near);
        CmConnection here = near.connect(linux.gid(), NO_DATA);
        near.takeKinds();
        long before = near.manager.nextDeadline();
        near.give(linux.mra(here.localId(), About.REQ, 0), linux.gid());
        assertThat(near.manager.nextDeadline()).isEqualTo(before);
    }

    // ---- rejections ----

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 148})
    void shouldRejectForTheProgramWithItsData(int size) {
        byte[] data = random.bytes(size);
        CmConnection here = near.connect(far.gid, NO_DATA);
        byte[] req = near.sent().peek();
        CmEnd.exchange(near, far);
        CmConnection there = far.request();
        there.reject(data, clock.nowNanos());
        far.take(); // lost
        far.give(req, near.gid); // and so the REQ comes again
        assertThat(far.requests).as("the program sees it once").hasSize(1);
        CmEnd.exchange(near, far);

        assertThat(near.takeEvents()).isEqualTo("rejected ended:CONNECTION_ABORTED released");
        assertThat(near.rejections.get(here)).isEqualTo(data);
        assertThat(near.reason)
                .isEqualTo(
                        "the peer has rejected the request: address=10.0.0.2, port=7174,"
                                + " reason=consumer");
        assertThat(here.state()).isEqualTo(CmState.CLOSED);
        assertThat(near.manager.held()).isZero();
        assertThat(there.state()).isEqualTo(CmState.REJECTED);
        far.advance(CmEnd.LIMITS.requestWaitNanos());
        assertThat(there.state()).isEqualTo(CmState.CLOSED);
        assertThat(far.manager.held()).isZero();
    }

    @Test
    void shouldTellTheReasonOfTheLibraryWithoutDataOfTheProgram() {
        near.connect(far.gid, NO_DATA);
        CmEnd.exchange(near, far);
        far.request().refuse("no place: limit=1\u0007", clock.nowNanos());
        CmEnd.exchange(near, far);
        assertThat(near.takeEvents()).isEqualTo("ended:CONNECTION_ABORTED released");
        assertThat(near.reason).endsWith("reason=no resources, text=no place: limit=1?");
    }

    @Test
    void shouldRejectARequestForWhichThereIsNoQueuePair() {
        CmConnection here = near.connect(far.gid, NO_DATA);
        CmEnd.exchange(near, far);
        for (int i = 0; i < CmEnd.PLACES; i++) {
            far.manager.createQueuePair(here, CmEnd.TERMS.attachment());
        }
        assertThatThrownBy(() -> far.accept(far.request(), NO_DATA))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> {
                            assertThat(e.status()).isEqualTo(Status.FULL);
                            far.request().refuse(String.valueOf(e.getMessage()), clock.nowNanos());
                        });
        CmEnd.exchange(near, far);
        assertThat(near.takeEvents()).isEqualTo("ended:CONNECTION_ABORTED released");
        assertThat(near.reason)
                .contains("reason=no resources, text=no place for a further connection: ");
        assertThat(far.adapter.queuePairs()).isEqualTo(CmEnd.PLACES);
        assertThat(near.adapter.queuePairs()).isZero();
    }

    @Test
    void shouldFindNothingThatListens() {
        far.manager.stopListening(CmEnd.PORT);
        near.connect(far.gid, NO_DATA);
        CmEnd.exchange(near, far);
        assertThat(near.takeEvents()).isEqualTo("ended:NOT_FOUND released");
        assertThat(near.reason)
                .endsWith("reason=invalid service id, text=nothing listens at the port: port=7174");
        assertThat(far.manager.held()).isZero();
        assertThat(far.manager.count(CmCounter.REFUSED)).isEqualTo(1);
    }

    @Test
    void shouldFindNothingThatReceives() {
        CmConnection here = near.connect(far.gid, NO_DATA);
        byte[] request = near.sent().remove();
        byte[] other = request.clone();
        other[8] ^= 1; // the transaction
        refuse(request, 100, far.gid); // cut
        refuse(request, 300, CmEnd.address(9));
        refuse(other, 300, far.gid);
        assertThat(here.state()).isEqualTo(CmState.REQ_SENT);

        refuse(request, 300, far.gid);

        assertThat(near.takeEvents()).isEqualTo("ended:NOT_FOUND released");
        assertThat(near.reason).startsWith("nothing receives at the address of the peer: ");
        assertThat(near.manager.held()).isZero();
    }

    /** An ICMP error that quotes a message, or a part of it. */
    private void refuse(byte[] message, int limitBytes, Gid peer) {
        Packet quoted = CmEnd.datagram(message, CmCodec.QUEUE_KEY);
        near.adapter.refused(
                peer,
                quoted.memory(),
                0,
                Math.min(limitBytes, quoted.bytes()),
                near.clock.nowNanos());
    }

    @ParameterizedTest
    @CsvSource({
        "3, CONNECTION_ABORTED, reason=no resources",
        "4, TIME_OUT, reason=timeout",
        "5, CONNECTION_ABORTED, reason=unsupported",
        "8, NOT_FOUND, reason=invalid service id",
        "10, CONNECTION_ABORTED, reason=stale connection",
        "77, CONNECTION_ABORTED, reason=number 77"
    })
    void shouldGiveAStatusToEachReason(int reason, Status status, String text) {
        FarEnd linux = FarEnd.linux(near);
        CmConnection here = near.connect(linux.gid(), NO_DATA);
        near.give(
                linux.withId(0).rej(here.localId(), About.REQ, reason, new byte[148]), linux.gid());
        assertThat(near.takeEvents()).isEqualTo("ended:" + status + " released");
        assertThat(near.reason).endsWith(text);
    }

    @Test
    void shouldRefuseASecondListenerOfAPort() {
        assertThatThrownBy(() -> near.manager.listen(CmEnd.PORT, near))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.ALREADY_EXIST))
                .hasMessageContaining("port=7174");
        near.manager.stopListening(CmEnd.PORT);
        near.manager.listen(CmEnd.PORT, near);
    }

    @Test
    void shouldPassOnWhatAListenerThrows() {
        near.manager.listen(
                1,
                request -> {
                    throw new DpuException(Status.FULL, "no place");
                });
        FarEnd linux = FarEnd.linux(near);
        CmMessage.Req req = linux.req(ServiceId.ofPort(1), linux.req(NO_DATA).privateData());
        assertThatThrownBy(() -> near.give(req, linux.gid())).hasMessage("no place");
        assertThat(near.sent()).as("the program has not answered").isEmpty();
        assertThat(near.manager.requests()).isEqualTo(1);
    }

    @Test
    void shouldAnswerARequestAfterItHasStoppedListening() {
        CmConnection here = near.connect(far.gid, NO_DATA);
        CmEnd.exchange(near, far);
        far.manager.stopListening(CmEnd.PORT);
        far.accept(far.request(), NO_DATA);
        CmEnd.exchange(near, far);
        assertThat(here.state()).isEqualTo(CmState.ESTABLISHED);
    }

    @Test
    void shouldNotConnectToAnAddressOfTheOtherIpVersion() {
        assertThatThrownBy(() -> near.connect(new Gid(0xfd77L << 48, 2), NO_DATA))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED));
        assertThat(near.manager.held()).isZero();
    }

    // ---- requests that wait ----

    @Test
    void shouldKeepARequestForFourOfItsPeriods() {
        FarEnd linux = FarEnd.linux(near);
        CmMessage.Req req = linux.req(NO_DATA);
        long period = 4096L << req.remoteTimeout();
        near.give(req, linux.gid());
        CmConnection request = near.request();
        near.advance(4 * period - 1);
        assertThat(request.state()).isEqualTo(CmState.REQ_RECEIVED);
        near.give(req, linux.gid());
        near.advance(4 * period - 1);
        assertThat(request.state()).as("it was repeated").isEqualTo(CmState.REQ_RECEIVED);
        near.advance(1);
        assertThat(request.state()).isEqualTo(CmState.CLOSED);
        assertThat(near.gone).containsExactly(request);
        assertThat(near.manager.held()).isZero();
        assertThat(near.manager.count(CmCounter.GIVEN_UP)).isEqualTo(1);
        assertThatThrownBy(() -> near.accept(request, NO_DATA))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.BAD_STATE));
        assertThat(near.sent()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"0, 200", "31, 20000"})
    void shouldLimitThePeriodThatARequestStates(int code, long millis) {
        FarEnd linux = FarEnd.linux(near);
        CmMessage.Req req = linux.req(NO_DATA);
        near.give(linux.req(req.serviceId(), req.privateData(), code, 3), linux.gid());
        near.advance(millis * CmEnd.MILLI - 1);
        assertThat(near.request().state()).isEqualTo(CmState.REQ_RECEIVED);
        near.advance(1);
        assertThat(near.request().state()).isEqualTo(CmState.CLOSED);
    }

    @Test
    void shouldEndARequestThatThePeerGivesUp() {
        CmConnection here = near.connect(far.gid, NO_DATA);
        CmEnd.exchange(near, far);
        here.disconnect(clock.nowNanos());
        CmEnd.exchange(near, far);
        assertThat(far.request().state()).isEqualTo(CmState.CLOSED);
        assertThat(far.gone).containsExactly(far.request());
        assertThat(far.manager.held()).isZero();
        assertThat(near.takeEvents()).as("no event after its own call").isEmpty();

        FarEnd linux = FarEnd.linux(near);
        near.give(linux.req(NO_DATA), linux.gid());
        near.give(linux.withGuid(1).givenUp(), linux.gid());
        near.give(linux.givenUp(), CmEnd.address(77));
        assertThat(near.request().state()).as("of others").isEqualTo(CmState.REQ_RECEIVED);
        near.give(linux.givenUp(), linux.gid());
        assertThat(near.request().state()).isEqualTo(CmState.CLOSED);
    }

    @Test
    void shouldEndAnAcceptedConnectionWhosePeerSaysNothing() {
        FarEnd linux = FarEnd.linux(near);
        near.give(linux.req(NO_DATA), linux.gid());
        CmConnection there = near.request();
        long begin = clock.nowNanos();
        near.accept(there, NO_DATA);
        while (there.state() == CmState.REP_SENT) {
            near.next();
        }
        assertThat(clock.nowNanos() - begin).isEqualTo(CmEnd.TERMS.connectTimeoutNanos());
        List<String> kinds = near.takeKinds();
        assertThat(kinds).hasSize(11).endsWith("REP", "REJ");
        assertThat(near.takeEvents()).isEqualTo("requested ended:TIME_OUT");
        near.give(linux.rtu(there.localId()), linux.gid());
        assertThat(near.takeKinds()).as("too late").containsExactly("REJ");
        near.give(linux.req(NO_DATA), linux.gid());
        assertThat(near.takeKinds()).containsExactly("REJ");
        near.next();
        assertThat(near.takeEvents()).isEqualTo("released");
        assertThat(near.manager.held()).isZero();
    }

    // ---- ends ----

    @Test
    void shouldDisconnectBothEndsAndKeepTheirNumbersForTimewait() {
        Pair pair = established();
        pair.there().disconnect(clock.nowNanos());
        CmEnd.exchange(near, far);
        assertThat(near.takeEvents()).isEqualTo("ended:SUCCESS");
        assertThat(near.reason).isEmpty();
        assertThat(far.takeEvents()).isEmpty();
        near.advance(CmEnd.LIMITS.timeWaitNanos() - 1);
        far.manager.expire(clock.nowNanos());
        assertThat(near.takeEvents() + far.takeEvents()).isEmpty();
        near.advance(1);
        far.manager.expire(clock.nowNanos());
        assertThat(near.takeEvents()).isEqualTo("released");
        assertThat(far.takeEvents()).isEqualTo("released");
        assertThat(near.manager.held() + far.manager.held()).isZero();
    }

    @Test
    void shouldTellAPeerOfSoftdpuWhyAConnectionHasFailed() {
        Pair pair = established();
        pair.here().fail("retries are exhausted: retries=7", clock.nowNanos());
        CmEnd.exchange(near, far);
        assertThat(far.takeEvents()).isEqualTo("ended:CONNECTION_RESET");
        assertThat(far.reason)
                .isEqualTo(
                        "the connection has failed at the peer: text=retries are exhausted:"
                                + " retries=7");
    }

    @Test
    void shouldEndBothEndsWhenAQueuePairFails() {
        Pair pair = established();
        near.submit(pair.here());
        far.submit(pair.there());
        CmEnd.contact(pair.here(), Opcode.SEND_LAST, clock.nowNanos());
        assertThat(near.takeEvents()).isEqualTo("completed:CONNECTION_ABORTED ended:UNEXPECTED");
        assertThat(near.reason)
                .startsWith("the peer of the RDMA connection violated the protocol: ");
        CmEnd.exchange(near, far);
        assertThat(far.takeEvents()).isEqualTo("completed:CONNECTION_RESET ended:CONNECTION_RESET");
        assertThat(far.reason)
                .startsWith("the connection has failed at the peer: text=the peer of the RDMA");
        assertThat(pair.here().state()).isEqualTo(CmState.TIMEWAIT);
        assertThat(pair.there().state()).isEqualTo(CmState.TIMEWAIT);
        near.advance(CmEnd.LIMITS.timeWaitNanos());
        far.manager.expire(clock.nowNanos());
        assertThat(near.adapter.queuePairs() + far.adapter.queuePairs()).isZero();
    }

    /** It would not be taken at the next repeat either. */
    @Test
    void shouldEndBothEndsWhenTheInterfaceTakesNoPacketOfTheConnection() {
        Pair pair = established();
        near.submit(pair.here());
        near.submit(pair.here());
        Gid peer = Objects.requireNonNull(pair.here().peer());
        int number = Objects.requireNonNull(pair.there().queuePair()).number();
        String details = "mtuBytes=1500, interface=eth0, packetBytes=4140";
        near.manager.tooLong(peer, number + 1, details, clock.nowNanos());
        assertThat(near.takeEvents()).as("another connection's").isEmpty();

        near.manager.tooLong(peer, number, details, clock.nowNanos());
        assertThat(near.takeEvents())
                .isEqualTo("completed:IO_FAILED completed:CONNECTION_ABORTED ended:IO_FAILED");
        assertThat(near.reason)
                .startsWith("a packet is too long for the interface")
                .contains(", pathMtuBytes=")
                .endsWith(details);
        CmEnd.exchange(near, far);
        assertThat(far.takeEvents()).isEqualTo("ended:CONNECTION_RESET");
        assertThat(far.reason).contains("pathMtuBytes=").endsWith(details);
    }

    @Test
    void shouldEndOnceWhenItsProgramDisconnectsInTheFlushOfAFailure() {
        Pair pair = established();
        near.submit(pair.here());
        near.submit(pair.here());
        near.atCompletion = () -> pair.here().disconnect(clock.nowNanos());
        CmEnd.contact(pair.here(), Opcode.SEND_LAST, clock.nowNanos());
        assertThat(near.takeEvents())
                .isEqualTo("completed:CONNECTION_ABORTED completed:CONNECTION_ABORTED");
        CmEnd.exchange(near, far);
        assertThat(far.takeEvents()).isEqualTo("ended:SUCCESS");
        assertThat(pair.here().state()).isEqualTo(CmState.TIMEWAIT);
    }

    @Test
    void shouldRepeatADisconnectUntilItsAnswerOrItsEnd() {
        Pair pair = established();
        pair.here().disconnect(clock.nowNanos());
        near.take();
        near.next();
        near.pass(far);
        far.take(); // the DREP is lost
        near.next();
        near.pass(far);
        assertThat(far.takeEvents()).isEqualTo("ended:SUCCESS");
        far.pass(near);
        assertThat(pair.here().state()).isEqualTo(CmState.TIMEWAIT);

        CmConnection silent = established().here();
        silent.disconnect(clock.nowNanos());
        long begin = clock.nowNanos();
        while (silent.state() == CmState.DREQ_SENT) {
            near.next();
        }
        assertThat(clock.nowNanos() - begin).isEqualTo(CmEnd.LIMITS.disconnectNanos());
        assertThat(silent.state()).isEqualTo(CmState.TIMEWAIT);
        assertThat(near.takeKinds()).hasSize(9).containsOnly("DREQ");
    }

    @Test
    void shouldEndBothWhenTheyDisconnectAtTheSameTime() {
        Pair pair = established();
        pair.here().disconnect(clock.nowNanos());
        pair.there().disconnect(clock.nowNanos());
        CmEnd.exchange(near, far);
        assertThat(pair.here().state()).isEqualTo(CmState.TIMEWAIT);
        assertThat(pair.there().state()).isEqualTo(CmState.TIMEWAIT);
        assertThat(near.takeEvents() + far.takeEvents()).isEmpty();
    }

    @Test
    void shouldAnswerADisconnectOfAConnectionThatIsNotKnown() {
        FarEnd linux = FarEnd.linux(near);
        near.give(linux.dreq(4711, 5), linux.gid());
        CmMessage.Drep drep = near.takeOnly(CmMessage.Drep.class);
        assertThat(drep.remoteId()).isEqualTo(linux.id());
        assertThat(drep.localId()).isEqualTo(4711);
        assertThat(drep.transactionId()).isEqualTo(FarEnd.TRANSACTION);
    }

    // ---- connections that one side has forgotten ----

    /** Linux forgets the ids of a REQ with the end of its connection, and answers a late repeat. */
    @ParameterizedTest
    @ValueSource(longs = {0, 60})
    void shouldRejectTheReplyToARepeatOfARequestWhoseConnectionIsOver(long seconds) {
        FarEnd linux = FarEnd.linux(near);
        CmConnection here = near.connect(linux.gid(), NO_DATA);
        near.give(linux.rep(here.localId(), NO_DATA), linux.gid());
        near.give(linux.dreq(here.localId(), here.queuePairNumber()), linux.gid());
        near.advance(seconds * CmEnd.SECOND);
        near.takeKinds();
        FarEnd again = linux.withId(linux.id() + 1);
        near.give(again.rep(here.localId(), NO_DATA), linux.gid());
        CmMessage.Rej rej = near.takeOnly(CmMessage.Rej.class);
        assertThat(rej.reason()).isEqualTo(RejectReason.INVALID_COMMUNICATION_ID);
        assertThat(rej.about()).isEqualTo(About.REP);
        assertThat(rej.localId()).isEqualTo(here.localId());
        assertThat(rej.remoteId()).isEqualTo(again.id());
        assertThat(rej.transactionId()).isEqualTo(FarEnd.TRANSACTION);
    }

    @Test
    void shouldRejectARequestOfAQueuePairThatIsConnectedAndEndThatConnection() {
        FarEnd linux = FarEnd.linux(near);
        near.give(linux.req(NO_DATA), linux.gid());
        CmConnection old = near.request();
        near.accept(old, NO_DATA);
        near.give(linux.rtu(old.localId()), linux.gid());
        near.takeEvents();
        near.takeKinds();
        FarEnd again = linux.withId(linux.id() + 1);
        near.give(again.req(NO_DATA), linux.gid());
        assertThat(near.takeEvents()).isEqualTo("ended:CONNECTION_RESET");
        CmMessage.Dreq dreq = (CmMessage.Dreq) near.take();
        assertThat(dreq.remoteId()).isEqualTo(linux.id());
        CmMessage.Rej rej = near.takeOnly(CmMessage.Rej.class);
        assertThat(rej.reason()).isEqualTo(RejectReason.STALE_CONNECTION);
        assertThat(rej.remoteId()).isEqualTo(again.id());
        assertThat(near.requests).hasSize(1);

        FarEnd third = linux.withId(linux.id() + 2);
        near.give(third.req(NO_DATA), linux.gid());
        assertThat(near.requests).as("nothing is left that it could belong to").hasSize(2);
        assertThat(old.state()).isEqualTo(CmState.TIMEWAIT);
        near.accept(near.request(), NO_DATA);
        near.give(third.rtu(near.request().localId()), linux.gid());
        assertThat(near.request().state()).isEqualTo(CmState.ESTABLISHED);
        near.advance(CmEnd.LIMITS.timeWaitNanos());
        near.give(third.withId(1).req(NO_DATA), linux.gid());
        assertThat(near.request().state())
                .as("the end of the old one has not removed the new one")
                .isEqualTo(CmState.DREQ_SENT);
    }

    @Test
    void shouldRejectAReplyOfAQueuePairThatIsConnectedAndEndThatConnection() {
        FarEnd linux = FarEnd.linux(near);
        CmConnection old = near.connect(linux.gid(), NO_DATA);
        near.give(linux.rep(old.localId(), NO_DATA), linux.gid());
        assertThat(near.takeEvents()).isEqualTo("established");
        CmConnection here = near.connect(linux.gid(), NO_DATA);
        near.takeKinds();
        FarEnd again = linux.withId(linux.id() + 1);
        near.give(again.rep(here.localId(), NO_DATA), linux.gid());
        assertThat(near.takeEvents()).isEqualTo("ended:CONNECTION_RESET ended:CONNECTION_RESET");
        assertThat(old.state()).isEqualTo(CmState.DREQ_SENT);
        assertThat(here.state()).isEqualTo(CmState.TIMEWAIT);
        CmMessage.Dreq dreq = (CmMessage.Dreq) near.take();
        assertThat(dreq.remoteId()).isEqualTo(linux.id());
        CmMessage.Rej rej = near.takeOnly(CmMessage.Rej.class);
        assertThat(rej.about()).isEqualTo(About.REP);
        assertThat(rej.reason()).isEqualTo(RejectReason.STALE_CONNECTION);
        assertThat(rej.remoteId()).isEqualTo(again.id());

        CmConnection third = near.connect(linux.gid(), NO_DATA);
        near.give(linux.withId(7).rep(third.localId(), NO_DATA), linux.gid());
        assertThat(third.state()).as("nothing is left").isEqualTo(CmState.ESTABLISHED);
        assertThat(old.state()).isEqualTo(CmState.TIMEWAIT);
    }

    @Test
    void shouldTellNothingMoreOfAReplyWhoseConnectionWasEndedMeanwhile() {
        FarEnd linux = FarEnd.linux(near);
        CmConnection old = near.connect(linux.gid(), NO_DATA);
        near.give(linux.rep(old.localId(), NO_DATA), linux.gid());
        near.submit(old);
        CmConnection here = near.connect(linux.gid(), NO_DATA);
        near.takeEvents();
        near.atCompletion = () -> here.disconnect(clock.nowNanos());
        near.give(linux.withId(7).rep(here.localId(), NO_DATA), linux.gid());
        assertThat(near.takeEvents())
                .isEqualTo("completed:CONNECTION_RESET ended:CONNECTION_RESET");
        assertThat(here.state()).isEqualTo(CmState.TIMEWAIT);
    }

    @Test
    void shouldRejectTheRepeatOfARequestWhoseConnectionIsOver() {
        CmConnection here = near.connect(far.gid, NO_DATA);
        byte[] req = near.sent().peek();
        near.pass(far);
        far.accept(far.request(), NO_DATA);
        CmEnd.exchange(near, far);
        here.disconnect(clock.nowNanos());
        CmEnd.exchange(near, far);
        far.give(req, near.gid);
        CmMessage.Rej rej = far.takeOnly(CmMessage.Rej.class);
        assertThat(rej.reason()).isEqualTo(RejectReason.STALE_CONNECTION);
        assertThat(far.requests).hasSize(1);
    }
}
