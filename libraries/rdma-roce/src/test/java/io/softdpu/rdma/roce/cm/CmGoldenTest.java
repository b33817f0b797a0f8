package io.softdpu.rdma.roce.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.roce.Captures;
import io.softdpu.rdma.roce.wire.Addresses;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.IpAddressing;
import io.softdpu.testkit.FakeClock;
import io.softdpu.testkit.SeededRandom;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Connection messages of Linux in both parts: what this side answers and sends, field by field.
 * Each difference has its rule here.
 */
class CmGoldenTest {
    /** As rping asks for it. */
    private static final LocalTerms TERMS =
            new LocalTerms(
                    CmEnd.attachment(Permissions.LOCAL_READ_ONLY),
                    1 << 20,
                    4096,
                    1,
                    1,
                    17,
                    7,
                    7,
                    6 * CmEnd.SECOND);

    /** What either end chooses for itself: numbers of connection and queue pair, PSN, GUID. */
    private static final List<String> OWN_NUMBERS =
            List.of("localId", "caGuid", "queuePair", "startingPsn");

    /** Of the requester, and of the responder. */
    private record Messages(
            CmMessage.Req req,
            CmMessage.Rep rep,
            CmMessage.Rtu rtu,
            CmMessage.Dreq dreq,
            CmMessage.Drep drep) {
        static Messages of(String file) {
            List<CmMessage> found = new ArrayList<>();
            Captures.read(
                    file,
                    each -> {
                        CmMessage message = each.message();
                        if (message != null) {
                            found.add(message);
                        }
                    });
            return new Messages(
                    (CmMessage.Req) found.get(0),
                    (CmMessage.Rep) found.get(1),
                    (CmMessage.Rtu) found.get(2),
                    (CmMessage.Dreq) found.get(3),
                    (CmMessage.Drep) found.get(4));
        }

        Gid requester() {
            return Gid.of(req.path().localGid());
        }

        Gid responder() {
            return Gid.of(req.path().remoteGid());
        }
    }

    /** Names of the components that differ. */
    private static List<String> differences(Record ours, Record theirs) {
        List<String> names = new ArrayList<>();
        for (RecordComponent component : ours.getClass().getRecordComponents()) {
            Object one = value(component, ours);
            Object other = value(component, theirs);
            if (one instanceof CmMessage.Path path) {
                differences(path, (CmMessage.Path) other)
                        .forEach(name -> names.add("path." + name));
            } else if (!Objects.deepEquals(one, other)) {
                names.add(component.getName());
            }
        }
        return names;
    }

    private static Object value(RecordComponent component, Record of) {
        try {
            return component.getAccessor().invoke(of);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static List<String> with(List<String> some, String... others) {
        List<String> all = new ArrayList<>(some);
        all.addAll(List.of(others));
        return all;
    }

    @ParameterizedTest
    @ValueSource(strings = {"v4-rping-rdmacm.pcap", "v6-rping-rdmacm.pcap"})
    void shouldAnswerARequestOfLinuxAsLinuxDoes(String file, SeededRandom random) {
        Messages linux = Messages.of(file);
        FakeClock clock = new FakeClock();
        CmEnd end = new CmEnd(linux.responder(), clock, CmEnd.LIMITS, random);
        end.give(linux.req(), linux.requester());
        CmConnection connection = end.request();
        assertThat(connection.port()).isEqualTo(7174);
        assertThat(connection.peerData()).isEqualTo(new byte[56]);
        connection.accept(new byte[196], TERMS, end, clock.nowNanos());
        end.manager.expire(clock.nowNanos());
        CmMessage.Rep rep = end.takeOnly(CmMessage.Rep.class);
        assertThat(differences(rep, linux.rep()))
                // Receives of an instance belong to all of its connections.
                .containsExactlyInAnyOrderElementsOf(with(OWN_NUMBERS, "sharedReceives"));

        CmMessage.Rtu rtu = linux.rtu();
        end.give(
                new CmMessage.Rtu(
                        rtu.transactionId(), rtu.localId(), rep.localId(), rtu.privateData()),
                linux.requester());
        assertThat(connection.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(end.takeEvents()).isEqualTo("requested established");
        Agreement agreement = CmEnd.agreement(connection);
        assertThat(agreement.path().peerQueuePair()).isEqualTo(linux.req().queuePair());
        assertThat(agreement.path().sendPsn()).isEqualTo(linux.req().startingPsn());
        assertThat(agreement.path().mtuBytes()).isEqualTo(4096);
    }

    @ParameterizedTest
    @ValueSource(strings = {"v4-rping-rdmacm.pcap", "v6-rping-rdmacm.pcap"})
    void shouldRequestAndEndAConnectionAsLinuxDoes(String file, SeededRandom random) {
        Messages linux = Messages.of(file);
        FakeClock clock = new FakeClock();
        CmEnd end = new CmEnd(linux.requester(), clock, CmEnd.LIMITS, random);
        CmConnection connection = end.connect(linux.responder(), new byte[56], TERMS);
        CmMessage.Req req = end.takeOnly(CmMessage.Req.class);
        assertThat(differences(req, linux.req()))
                .containsExactlyInAnyOrderElementsOf(
                        with(
                                OWN_NUMBERS,
                                "transactionId", // any number of the requester
                                "remoteTimeout", // 1 s in place of 4: the longest pause of repeats
                                "localTimeout",
                                "sharedReceives", // as above
                                "path.flowLabel", // Linux hashes ports; RoCE over UDP has no use
                                "path.ackTimeout", // of the instance: 17 in place of 19
                                "privateData")); // the source port alone, see below
        IpAddressing ours = IpAddressing.decode(req.privateData());
        IpAddressing theirs = IpAddressing.decode(linux.req().privateData());
        assertThat(ours.source()).isEqualTo(theirs.source());
        assertThat(ours.destination()).isEqualTo(theirs.destination());
        assertThat(ours.sourcePort()).isBetween(49_152, 65_535);
        assertThat(Addresses.text(ours.source())).isEqualTo(linux.requester().toString());

        CmMessage.Rep rep = linux.rep();
        end.give(
                new CmMessage.Rep(
                        req.transactionId(),
                        rep.localId(),
                        req.localId(),
                        rep.queueKey(),
                        rep.queuePair(),
                        rep.startingPsn(),
                        rep.responderResources(),
                        rep.initiatorDepth(),
                        rep.ackDelay(),
                        rep.failover(),
                        rep.flowControl(),
                        rep.rnrRetries(),
                        rep.sharedReceives(),
                        rep.caGuid(),
                        rep.privateData()),
                linux.responder());
        assertThat(connection.state()).isEqualTo(CmState.ESTABLISHED);
        CmMessage.Rtu rtu = end.takeOnly(CmMessage.Rtu.class);
        // Decoded by Linux's full length: this side sends no private data, which is zero there too.
        assertThat(differences(rtu, linux.rtu()))
                .containsExactlyInAnyOrder("transactionId", "localId");
        assertThat(rtu.transactionId()).isEqualTo(req.transactionId());

        connection.disconnect(clock.nowNanos());
        CmMessage.Dreq dreq = end.takeOnly(CmMessage.Dreq.class);
        assertThat(dreq.remoteQueuePair()).isEqualTo(rep.queuePair());
        assertThat(dreq.remoteId()).isEqualTo(rep.localId());
        assertThat(dreq.privateData()).isEqualTo(linux.dreq().privateData());
        CmMessage.Drep drep = linux.drep();
        end.give(
                new CmMessage.Drep(
                        dreq.transactionId(),
                        rep.localId(),
                        connection.localId(),
                        drep.privateData()),
                linux.responder());
        assertThat(connection.state()).isEqualTo(CmState.TIMEWAIT);
    }

    @ParameterizedTest
    @ValueSource(strings = {"v4-rping-rdmacm.pcap", "v6-rping-rdmacm.pcap"})
    void shouldAnswerADisconnectOfLinuxAsLinuxDoes(String file, SeededRandom random) {
        Messages linux = Messages.of(file);
        boolean byRequester = linux.dreq().localId() == linux.req().localId();
        CmEnd end = new CmEnd(linux.responder(), new FakeClock(), CmEnd.LIMITS, random);
        end.give(linux.req(), linux.requester());
        CmConnection connection = end.request();
        end.accept(connection, new byte[0]);
        end.give(
                new CmMessage.Rtu(1, linux.req().localId(), connection.localId(), new byte[224]),
                linux.requester());
        end.takeKinds();
        CmMessage.Dreq dreq = linux.dreq();
        end.give(
                new CmMessage.Dreq(
                        dreq.transactionId(),
                        linux.req().localId(),
                        connection.localId(),
                        connection.queuePairNumber(),
                        dreq.privateData()),
                linux.requester());
        assertThat(end.takeEvents()).isEqualTo("requested established ended:SUCCESS");
        CmMessage.Drep drep = end.takeOnly(CmMessage.Drep.class);
        List<String> ids = byRequester ? List.of("localId") : List.of("localId", "remoteId");
        assertThat(differences(drep, linux.drep())).containsExactlyInAnyOrderElementsOf(ids);
    }
}
