package io.softdpu.rdma.roce.rc;

import static io.softdpu.rdma.roce.rc.ScriptedPeer.payload;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Syndrome;
import io.softdpu.rdma.spi.WorkRequest;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each counter of a connection, raised by what it counts. */
class ConnectionCountersTest {
    private static final int SEND_PSN = ScriptedPeer.SEND_PSN;
    private static final int RECEIVE_PSN = ScriptedPeer.RECEIVE_PSN;

    /** First time until a packet is repeated. */
    private static final long FIRST_TIMEOUT_NANOS = 100_000_000;

    /** BTH and ICRC. */
    private static final int FRAME_BYTES = 16;

    /**
     * Row of the table.
     *
     * @param name of the counter for programs
     * @param count after the events of the row
     */
    private record Row(String name, long count) {}

    @ParameterizedTest
    @EnumSource
    void shouldCountWhatItIsNamedFor(ConnectionCounter counter) {
        ScriptedPeer peer = new ScriptedPeer();
        assertThat(peer.queuePair().counters().get(counter)).as("before").isZero();

        Row row = provoke(counter, peer);

        assertThat(counter.key()).isEqualTo(row.name());
        assertThat(peer.queuePair().counters().get(counter)).isEqualTo(row.count());
        assertThat(total(counter, peer)).as("of the adapter").isEqualTo(row.count());
        peer.adapter().destroy(peer.queuePair());
        assertThat(total(counter, peer)).as("after its end").isEqualTo(row.count());
    }

    private static long total(ConnectionCounter counter, ScriptedPeer peer) {
        int place = List.of(ConnectionCounter.values()).indexOf(counter);
        return peer.adapter().totals()[place];
    }

    private static Row provoke(ConnectionCounter counter, ScriptedPeer peer) {
        return switch (counter) {
            case PACKETS_SENT -> {
                begin(peer, 2 * ScriptedPeer.MTU + 1);
                yield new Row("packets_sent", 3);
            }
            case BYTES_SENT -> {
                begin(peer, 10);
                yield new Row("bytes_sent", FRAME_BYTES + 12); // a multiple of four
            }
            case PACKETS_RECEIVED -> {
                begin(peer, 1);
                peer.ack(SEND_PSN);
                peer.send(Opcode.SEND_ONLY, RECEIVE_PSN, 1);
                yield new Row("packets_received", 2);
            }
            case BYTES_RECEIVED -> {
                peer.send(Opcode.SEND_ONLY, RECEIVE_PSN, 10);
                yield new Row("bytes_received", FRAME_BYTES + 12);
            }
            case NIC_PAYLOAD_BYTES_COPIED -> {
                peer.write(Opcode.WRITE_ONLY, RECEIVE_PSN, 0, 100, payload(100, 1));
                peer.submit(WorkRequest.Kind.READ, 50);
                peer.sent();
                peer.data(Opcode.READ_RESPONSE_ONLY, SEND_PSN, payload(50, 2));
                yield new Row("nic_payload_bytes_copied", 150);
            }
            case RETRANSMISSIONS -> {
                begin(peer, 2 * ScriptedPeer.MTU + 1);
                peer.nak(SEND_PSN + 1, Syndrome.SEQUENCE_ERROR);
                peer.sent();
                yield new Row("retransmissions", 2);
            }
            case TIMEOUTS -> {
                begin(peer, 1);
                peer.pass(FIRST_TIMEOUT_NANOS);
                yield new Row("timeouts", 1);
            }
            case DUPLICATES -> {
                peer.post(1);
                peer.send(Opcode.SEND_ONLY, RECEIVE_PSN, 1);
                peer.send(Opcode.SEND_ONLY, RECEIVE_PSN, 1);
                yield new Row("duplicates", 1);
            }
            case DROPPED_BEHIND_GAP -> {
                sendBehindGap(peer);
                yield new Row("dropped_behind_gap", 2);
            }
            case DROPPED_ANSWERS -> {
                peer.ack(SEND_PSN);
                yield new Row("dropped_answers", 1);
            }
            case BAD_ICRC -> {
                byte[] bytes = bytes(peer);
                bytes[bytes.length - 1] ^= 1;
                peer.deliver(bytes, ScriptedPeer.OWN, ScriptedPeer.PORT);
                yield new Row("bad_icrc", 1);
            }
            case FOREIGN_SOURCE -> {
                Gid foreign = new Gid(ScriptedPeer.OWN.high(), ScriptedPeer.OWN.low() + 1);
                byte[] bytes = bytes(peer);
                peer.deliver(bytes, foreign, ScriptedPeer.PORT);
                yield new Row("foreign_source", 1);
            }
            case SEQUENCE_NAKS_SENT -> {
                sendBehindGap(peer);
                yield new Row("sequence_naks_sent", 1);
            }
            case SEQUENCE_NAKS_RECEIVED -> {
                refuse(peer, Syndrome.SEQUENCE_ERROR);
                yield new Row("sequence_naks_received", 1);
            }
            case RNR_NAKS_SENT -> {
                peer.send(Opcode.SEND_ONLY, RECEIVE_PSN, 1);
                yield new Row("rnr_naks_sent", 1);
            }
            case RNR_NAKS_RECEIVED -> {
                begin(peer, 1);
                peer.rnr(SEND_PSN, 14);
                yield new Row("rnr_naks_received", 1);
            }
            case INVALID_REQUEST_NAKS_SENT -> {
                peer.send(Opcode.SEND_LAST, RECEIVE_PSN, 1);
                yield new Row("invalid_request_naks_sent", 1);
            }
            case INVALID_REQUEST_NAKS_RECEIVED -> {
                refuse(peer, Syndrome.INVALID_REQUEST);
                yield new Row("invalid_request_naks_received", 1);
            }
            case REMOTE_ACCESS_NAKS_SENT -> {
                peer.read(RECEIVE_PSN, 0, 8, ScriptedPeer.KEY + 1);
                yield new Row("remote_access_naks_sent", 1);
            }
            case REMOTE_ACCESS_NAKS_RECEIVED -> {
                refuse(peer, Syndrome.REMOTE_ACCESS_ERROR);
                yield new Row("remote_access_naks_received", 1);
            }
            case REMOTE_OPERATION_NAKS_SENT -> {
                peer.post(4);
                peer.send(Opcode.SEND_ONLY, RECEIVE_PSN, 5);
                yield new Row("remote_operation_naks_sent", 1);
            }
            case REMOTE_OPERATION_NAKS_RECEIVED -> {
                refuse(peer, Syndrome.REMOTE_OPERATIONAL_ERROR);
                yield new Row("remote_operation_naks_received", 1);
            }
        };
    }

    private static void begin(ScriptedPeer peer, int bytes) {
        peer.submit(WorkRequest.Kind.SEND, bytes);
        peer.sent();
    }

    private static void refuse(ScriptedPeer peer, int code) {
        begin(peer, 1);
        peer.nak(SEND_PSN, code);
    }

    /** Those of the next packet. */
    private static byte[] bytes(ScriptedPeer peer) {
        return peer.packet(Opcode.SEND_ONLY, RECEIVE_PSN, true, payload(4, 1)).bytes();
    }

    /** The first packet is lost. */
    private static void sendBehindGap(ScriptedPeer peer) {
        peer.send(Opcode.SEND_ONLY, RECEIVE_PSN + 1, 1);
        peer.send(Opcode.SEND_ONLY, RECEIVE_PSN + 2, 1);
    }
}
