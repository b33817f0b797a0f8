package io.softdpu.rdma.roce.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.rdma.roce.rc.QueuePair;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.CmMessage.About;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.RejectReason;
import io.softdpu.testkit.FakeClock;
import io.softdpu.testkit.SeededRandom;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Each situation of a connection with each event. A situation is a state, and what else makes a
 * difference in it. Each established one has a request under way. The state of its queue pair
 * follows.
 */
class CmTransitionsTest {
    private static final byte[] DATA = {1, 2, 3};
    private static final String REFUSED = "refused";
    private static final ConnectKey LOWEST = new ConnectKey(0, 0);
    private static final ConnectKey HIGHEST = new ConnectKey(-1, -1);
    private static final ConnectKey FOREIGN = new ConnectKey(5, 5);

    /** Situation of a connection before an event. */
    enum Situation {
        /** EXPORTED. */
        EX,
        /** EXPORTED, with the peer's REQ. */
        EH,
        /** AWAITING_REQ. */
        AW,
        /** REQ_SENT to a port. */
        QS,
        /** REQ_SENT by key. */
        QK,
        /** REQ_RECEIVED. */
        QR,
        /** REJECTED. */
        RJ,
        /** REP_SENT. */
        PS,
        /** ESTABLISHED by the REP of the peer. */
        ER,
        /** ESTABLISHED by the REQ of the peer. */
        EP,
        /** DREQ_SENT. */
        DS,
        /** TIMEWAIT after a REQ without an answer. */
        TQ,
        /** TIMEWAIT after a REP without an answer. */
        TP,
        /** TIMEWAIT after a DREQ of the peer. */
        TD,
        /** CLOSED. */
        CL
    }

    /** Event of a connection. */
    enum Event {
        /** The same REQ again; the first one of its ids where there was none. */
        REQ,
        /** A REQ of other ids from the same queue pair. */
        REQ_OF_SAME_PAIR,
        /** A REQ of other ids with this end's key, and the key of another peer. */
        REQ_OF_OTHER_KEY,
        REP,
        RTU,
        /** About the REQ, by a peer that states no number of its own. */
        REJ_REQ,
        /** With the numbers of both. */
        REJ,
        /** The peer has given up its REQ. */
        REJ_TIMEOUT,
        /** A wish for more time about the REQ, and then the time of the next repeat. */
        MRA_REQ,
        /** The same about the REP. */
        MRA_REP,
        DREQ,
        DREP,
        /** A packet of the peer has reached the queue pair. */
        CONTACT,
        /** A packet of the peer makes the queue pair fail. */
        FAILURE,
        /** The time of the next repeat. */
        REPEAT,
        /** The end of the wait, if there is one. */
        DEADLINE,
        CONNECT,
        ACCEPT,
        REJECT,
        REFUSE,
        DISCONNECT,
        FAIL
    }

    /**
     * Next state, messages and events, where anything changes, the calls that are refused, and what
     * is counted. Everything else leaves the connection as it is, without a message.
     */
    private static final String TABLE =
            """
            REQ
              AW REP_SENT
              QK REQ_SENT!REJ
              RJ REJECTED!REJ
              ER DREQ_SENT!DREQ,REJ(completed:CONNECTION_RESET ended:CONNECTION_RESET)
              TP TIMEWAIT!REJ
              TD TIMEWAIT!REJ
              +REFUSED [QK, ER]
              +REPEATED [EH, QR, RJ, PS, EP, DS, TP, TD]
            REQ_OF_SAME_PAIR
              AW REP_SENT
              QK REQ_SENT!REJ
              QR CLOSED
              PS DREQ_SENT!DREQ,REJ(ended:CONNECTION_RESET)
              ER DREQ_SENT!DREQ,REJ(completed:CONNECTION_RESET ended:CONNECTION_RESET)
              EP DREQ_SENT!DREQ,REJ(completed:CONNECTION_RESET ended:CONNECTION_RESET)
              DS TIMEWAIT
              +GIVEN_UP [QR]
              +REFUSED [QK, PS, ER, EP]
            REQ_OF_OTHER_KEY
              AW CLOSED!REJ(ended:AUTHENTICATION released)
              QK TIMEWAIT!REJ(ended:AUTHENTICATION)
              +REFUSED [AW, QK]
            REP
              EX EXPORTED!REJ
              QS ESTABLISHED!RTU(established)
              QK ESTABLISHED!RTU(established)
              ER ESTABLISHED!RTU
              TQ TIMEWAIT!REJ
              CL CLOSED!REJ
              +REPEATED [EH, AW, QR, RJ, PS, ER, EP, DS, TQ, TP, TD]
              +UNKNOWN [EX, CL]
            RTU
              PS ESTABLISHED(established)
              TP TIMEWAIT!REJ
              +REPEATED [EH, QR, RJ, ER, EP, DS, TP, TD]
              +UNKNOWN [EX, AW, QS, QK, TQ, CL]
            REJ_REQ
              QS CLOSED(rejected ended:CONNECTION_ABORTED released)
              QK CLOSED(rejected ended:CONNECTION_ABORTED released)
              +REPEATED [AW, TQ]
              +UNKNOWN [EX, EH, QR, RJ, PS, ER, EP, DS, TP, TD, CL]
            REJ
              QS CLOSED(rejected ended:CONNECTION_ABORTED released)
              QK CLOSED(rejected ended:CONNECTION_ABORTED released)
              PS TIMEWAIT(ended:CONNECTION_RESET)
              ER TIMEWAIT(completed:CONNECTION_RESET ended:CONNECTION_RESET)
              EP TIMEWAIT(completed:CONNECTION_RESET ended:CONNECTION_RESET)
              DS TIMEWAIT
              +REPEATED [EH, QR, RJ, TP, TD]
              +UNKNOWN [EX, AW, TQ, CL]
            REJ_TIMEOUT
              QR CLOSED
              RJ CLOSED
              PS TIMEWAIT(ended:CONNECTION_RESET)
              +GIVEN_UP [EH, QR]
              +REPEATED [EP, DS, TP, TD]
              +UNKNOWN [EX, AW, QS, QK, ER, TQ, CL]
            MRA_REQ
              PS REP_SENT!REP
              DS DREQ_SENT!DREQ
              +REPEATED [EH, AW, QR, RJ, PS, ER, EP, DS, TQ, TP, TD]
              +UNKNOWN [EX, CL]
            MRA_REP
              QS REQ_SENT!REQ
              QK REQ_SENT!REQ
              DS DREQ_SENT!DREQ
              +REPEATED [EH, QR, RJ, ER, EP, DS, TP, TD]
              +UNKNOWN [EX, AW, QS, QK, TQ, CL]
            DREQ
              EX EXPORTED!DREP
              AW AWAITING_REQ!DREP
              QS REQ_SENT!DREP
              QK REQ_SENT!DREP
              PS TIMEWAIT!DREP(ended:SUCCESS)
              ER TIMEWAIT!DREP(completed:CONNECTION_RESET ended:SUCCESS)
              EP TIMEWAIT!DREP(completed:CONNECTION_RESET ended:SUCCESS)
              DS TIMEWAIT!DREP
              TQ TIMEWAIT!DREP
              TP TIMEWAIT!DREP
              TD TIMEWAIT!DREP
              CL CLOSED!DREP
              +REPEATED [EH, QR, RJ, TP, TD]
              +UNKNOWN [EX, AW, QS, QK, TQ, CL]
            DREP
              DS TIMEWAIT
              +REPEATED [EH, QR, RJ, PS, ER, EP, TP, TD]
              +UNKNOWN [EX, AW, QS, QK, TQ, CL]
            CONTACT
              PS ESTABLISHED(established)
            FAILURE
              PS DREQ_SENT!DREQ(established ended:UNEXPECTED)
              ER DREQ_SENT!DREQ(completed:CONNECTION_ABORTED ended:UNEXPECTED)
              EP DREQ_SENT!DREQ(completed:CONNECTION_ABORTED ended:UNEXPECTED)
            REPEAT
              QS REQ_SENT!REQ
              QK REQ_SENT!REQ
              PS REP_SENT!REP
              DS DREQ_SENT!DREQ
            DEADLINE
              AW CLOSED(ended:TIME_OUT released)
              QS CLOSED!REQ,REJ(ended:TIME_OUT released)
              QK CLOSED!REQ,REJ(ended:TIME_OUT released)
              QR CLOSED
              RJ CLOSED
              PS CLOSED!REP,REJ(ended:TIME_OUT released)
              DS CLOSED!DREQ(released)
              TQ CLOSED(released)
              TP CLOSED(released)
              TD CLOSED(released)
              +GIVEN_UP [EH, QR]
            CONNECT
              EX AWAITING_REQ
              EH REP_SENT
              refused [AW, QS, QK, QR, RJ, PS, ER, EP, DS, TQ, TP, TD, CL]
            ACCEPT
              QR REP_SENT!REP
              refused [EX, EH, AW, QS, QK, RJ, PS, ER, EP, DS, TQ, TP, TD, CL]
            REJECT
              QR REJECTED!REJ
              refused [EX, EH, AW, QS, QK, RJ, PS, ER, EP, DS, TQ, TP, TD, CL]
            REFUSE
              QR REJECTED!REJ
              refused [EX, EH, AW, QS, QK, RJ, PS, ER, EP, DS, TQ, TP, TD, CL]
            DISCONNECT
              EX CLOSED(released)
              EH CLOSED!REJ(released)
              AW CLOSED(released)
              QS TIMEWAIT!REJ
              QK TIMEWAIT!REJ
              QR REJECTED!REJ
              PS TIMEWAIT!REJ
              ER DREQ_SENT!DREQ(completed:CONNECTION_ABORTED)
              EP DREQ_SENT!DREQ(completed:CONNECTION_ABORTED)
              +REFUSED [EH]
            FAIL
              EX CLOSED(released)
              EH CLOSED!REJ(released)
              AW CLOSED(released)
              QS TIMEWAIT!REJ
              QK TIMEWAIT!REJ
              QR REJECTED!REJ
              PS TIMEWAIT!REJ
              ER DREQ_SENT!DREQ(completed:CONNECTION_ABORTED)
              EP DREQ_SENT!DREQ(completed:CONNECTION_ABORTED)
              +REFUSED [EH]
            """;

    /** One connection with a peer of handmade messages. */
    private static final class Fixture {
        private final CmEnd end;
        private final FarEnd far;
        private final CmConnection connection;
        private final Map<CmCounter, Long> before = new EnumMap<>(CmCounter.class);

        Fixture(Situation situation, SeededRandom random) {
            end = new CmEnd(1, new FakeClock(), random);
            far = FarEnd.linux(end);
            connection = made(situation);
            end.takeKinds();
            for (CmCounter counter : CmCounter.values()) {
                before.put(counter, end.manager.count(counter));
            }
            end.takeEvents();
        }

        private CmConnection made(Situation situation) {
            return switch (situation) {
                case EX -> end.export();
                case EH -> {
                    CmConnection made = end.export();
                    end.give(far.req(LOWEST, key(made)), far.gid());
                    yield made;
                }
                case AW -> connected(LOWEST);
                case QS -> end.connect(far.gid(), DATA);
                case QK -> connected(HIGHEST);
                case QR -> requested();
                case RJ -> {
                    CmConnection made = requested();
                    made.reject(DATA, now());
                    yield made;
                }
                case PS -> accepted();
                case ER -> {
                    CmConnection made = end.connect(far.gid(), DATA);
                    end.give(far.rep(made.localId(), DATA), far.gid());
                    end.submit(made);
                    yield made;
                }
                case EP -> established();
                case DS -> {
                    CmConnection made = established();
                    made.disconnect(now());
                    yield made;
                }
                case TQ -> {
                    CmConnection made = end.connect(far.gid(), DATA);
                    end.advance(CmEnd.TERMS.connectTimeoutNanos());
                    yield made;
                }
                case TP -> {
                    CmConnection made = accepted();
                    end.advance(CmEnd.TERMS.connectTimeoutNanos());
                    yield made;
                }
                case TD -> ended();
                case CL -> {
                    CmConnection made = ended();
                    end.advance(CmEnd.LIMITS.timeWaitNanos());
                    yield made;
                }
            };
        }

        private CmConnection connected(ConnectKey peers) {
            CmConnection made = end.export();
            made.connect(far.gid(), peers, now());
            return made;
        }

        private CmConnection requested() {
            end.give(far.req(DATA), far.gid());
            return end.request();
        }

        private CmConnection accepted() {
            CmConnection made = requested();
            end.accept(made, DATA);
            return made;
        }

        private CmConnection established() {
            CmConnection made = accepted();
            end.give(far.rtu(made.localId()), far.gid());
            end.submit(made);
            return made;
        }

        private CmConnection ended() {
            CmConnection made = established();
            end.give(far.dreq(made.localId(), made.queuePairNumber()), far.gid());
            return made;
        }

        private long now() {
            return end.clock.nowNanos();
        }

        private static ConnectKey key(CmConnection connection) {
            ConnectKey key = connection.key();
            assertThat(key).isNotNull();
            return key;
        }

        /** The REQ that this connection has got or would get. */
        private CmMessage.Req req(FarEnd from, ConnectKey peers) {
            return connection.key() == null ? from.req(DATA) : from.req(peers, key(connection));
        }

        void happens(Event event) {
            int id = connection.localId();
            ConnectKey peers = connection.state() == CmState.REQ_SENT ? HIGHEST : LOWEST;
            switch (event) {
                case REQ -> give(req(far, peers));
                case REQ_OF_SAME_PAIR -> give(req(far.withId(far.id() + 1), peers));
                case REQ_OF_OTHER_KEY ->
                        give(req(far.withId(far.id() + 1).withQueuePair(0x98), FOREIGN));
                case REP -> give(far.rep(id, DATA));
                case RTU -> give(far.rtu(id));
                case REJ_REQ -> give(far.withId(0).rej(id, About.REQ, RejectReason.CONSUMER, DATA));
                case REJ -> give(far.rej(id, About.OTHER, RejectReason.CONSUMER, DATA));
                case REJ_TIMEOUT -> give(far.givenUp());
                case MRA_REQ -> delay(far.mra(id, About.REQ, 20));
                case MRA_REP -> delay(far.mra(id, About.REP, 20));
                case DREQ -> give(far.dreq(id, connection.queuePairNumber()));
                case DREP -> give(far.drep(id));
                case CONTACT -> CmEnd.contact(connection, Opcode.ACKNOWLEDGE, now());
                case FAILURE -> CmEnd.contact(connection, Opcode.SEND_LAST, now());
                case REPEAT -> end.advance(CmEnd.LIMITS.firstRepeatNanos());
                case DEADLINE -> end.advance(CmEnd.LIMITS.requestWaitNanos());
                case CONNECT -> connection.connect(far.gid(), LOWEST, now());
                case ACCEPT -> end.accept(connection, DATA);
                case REJECT -> connection.reject(DATA, now());
                case REFUSE -> connection.refuse("reason: key=value", now());
                case DISCONNECT -> connection.disconnect(now());
                case FAIL -> connection.fail("reason: key=value", now());
            }
        }

        private void assertThatItsQueuePairFollows() {
            QueuePair queuePair = connection.queuePair();
            QueuePair.State state = queuePair == null ? null : queuePair.state();
            switch (connection.state()) {
                case EXPORTED, AWAITING_REQ, REQ_SENT ->
                        assertThat(state).isEqualTo(QueuePair.State.IDLE);
                case REQ_RECEIVED, REJECTED -> assertThat(state).isNull();
                case REP_SENT -> assertThat(state).isEqualTo(QueuePair.State.READY);
                case ESTABLISHED -> assertThat(state).isEqualTo(QueuePair.State.CONNECTED);
                case DREQ_SENT, TIMEWAIT -> assertThat(state).isEqualTo(QueuePair.State.ENDED);
                case CLOSED -> assertThat(state).isIn(null, QueuePair.State.ENDED);
            }
            assertThat(end.adapter.queuePairs())
                    .as("one per place, and none of a closed connection")
                    .isEqualTo(end.manager.connections() + end.manager.timeWaits());
        }

        /** Counters that have changed. */
        List<CmCounter> counted() {
            return Stream.of(CmCounter.values())
                    .filter(each -> end.manager.count(each) != before.get(each))
                    .toList();
        }

        private void delay(CmMessage.Mra mra) {
            give(mra);
            end.advance(CmEnd.LIMITS.firstRepeatNanos());
        }

        private void give(CmMessage message) {
            end.give(message, far.gid());
        }

        /** Lets it happen, and returns what has changed; empty if nothing has. */
        String changeBy(Event event) {
            CmState before = connection.state();
            String refused = "";
            try {
                happens(event);
            } catch (DpuException e) {
                assertThat(e.status()).isEqualTo(Status.BAD_STATE);
                refused = REFUSED;
            }
            CmState after = connection.state();
            assertThatItsQueuePairFollows();
            List<String> kinds = end.takeKinds().stream().distinct().toList();
            end.events.remove("requested"); // of another connection
            String events = end.takeEvents();
            if (before == after && kinds.isEmpty() && events.isEmpty()) {
                return refused;
            }
            return refused
                    + after
                    + (kinds.isEmpty() ? "" : "!" + String.join(",", kinds))
                    + (events.isEmpty() ? "" : "(" + events + ")");
        }
    }

    @Test
    void shouldGoFromEachStateByEachEventAsTheTableSays(SeededRandom random) {
        StringBuilder actual = new StringBuilder();
        for (Event event : Event.values()) {
            actual.append(event + "\n");
            Map<String, List<Situation>> alike = new TreeMap<>();
            for (Situation situation : Situation.values()) {
                Fixture fixture = new Fixture(situation, random);
                String change = fixture.changeBy(event);
                if (change.equals(REFUSED)) {
                    alike.computeIfAbsent(REFUSED, of -> new ArrayList<>()).add(situation);
                } else if (!change.isEmpty()) {
                    actual.append("  " + situation + " " + change + "\n");
                }
                for (CmCounter counter : fixture.counted()) {
                    alike.computeIfAbsent("+" + counter, of -> new ArrayList<>()).add(situation);
                }
            }
            alike.forEach(
                    (what, situations) -> actual.append("  " + what + " " + situations + "\n"));
        }
        assertThat(actual.toString()).isEqualTo(TABLE);
    }
}
