package io.softdpu.rdma.roce.rc;

import static io.softdpu.rdma.roce.rc.ScriptedPeer.payload;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Syndrome;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Defects that other implementations have had: one test each. */
class KnownDefectsTest {
    private static final byte[] NEW = payload(64, 1);
    private static final byte[] OLD = payload(64, 2);

    private final ScriptedPeer peer = new ScriptedPeer();

    @Test
    void shouldContinueTheMessageUnderWayAfterARepeatedRead() {
        WorkRequest receive = peer.post(600);
        peer.read(500, 0, 64);
        peer.packet(Opcode.SEND_FIRST, 501, false, payload(256, 1)).deliver();
        peer.read(500, 0, 64);
        peer.packet(Opcode.SEND_MIDDLE, 502, false, payload(256, 2)).deliver();
        peer.read(500, 0, 64);
        peer.send(Opcode.SEND_LAST, 503, 10);
        assertThat(peer.events()).containsExactly("received SEND 522");
        byte[] content = ScriptedPeer.local(receive);
        assertThat(Arrays.copyOf(content, 256)).isEqualTo(payload(256, 1));
        assertThat(Arrays.copyOfRange(content, 256, 512)).isEqualTo(payload(256, 2));
        assertThat(peer.sent())
                .as("one answer at a time")
                .containsExactly("READ_RESPONSE_ONLY 500 ok 1 [64]", "ACKNOWLEDGE 503 ok 2");
        peer.read(500, 0, 64);
        assertThat(peer.sent()).containsExactly("READ_RESPONSE_ONLY 500 ok 2 [64]");
    }

    @Test
    void shouldRepeatEachRequestFromTheMissingOneOn() {
        peer.submit(WorkRequest.Kind.SEND, 10);
        peer.submit(WorkRequest.Kind.WRITE, 300);
        peer.submit(WorkRequest.Kind.READ, 10);
        peer.submit(WorkRequest.Kind.SEND_IMMEDIATE, 20);
        peer.sent();
        peer.nak(101, Syndrome.SEQUENCE_ERROR);
        assertThat(peer.events()).containsExactly("SEND SUCCESS");
        assertThat(peer.sent())
                .containsExactly(
                        "WRITE_FIRST 101 @0+300 [256]",
                        "WRITE_LAST 102! [44]",
                        "READ_REQUEST 103! @0+10",
                        "SEND_ONLY_IMMEDIATE 104! [20]");
        peer.ack(101);
        peer.pass(Path.DEFAULT_TIMEOUT_NANOS);
        assertThat(peer.sent())
                .as("of the message under way only what is missing")
                .startsWith(
                        "WRITE_LAST 102! [44]",
                        "READ_REQUEST 103! @0+10",
                        "SEND_ONLY_IMMEDIATE 104! [20]");
    }

    @Test
    void shouldNotAcknowledgeAReadForARepeatedWrite() {
        peer.write(Opcode.WRITE_ONLY, 500, 0, 64, NEW);
        peer.read(501, 0, 64);
        peer.sent();
        peer.write(Opcode.WRITE_ONLY, 500, 0, 64, NEW);
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 500 ok 2");
    }

    @Test
    void shouldNotTakeAnAcknowledgementForTheDataOfARead() {
        WorkRequest read = peer.submit(WorkRequest.Kind.READ, 64);
        peer.sent();
        peer.ack(100);
        assertThat(peer.events()).isEmpty();
        assertThat(peer.sent()).containsExactly("READ_REQUEST 100! @0+64");
        peer.ack(100);
        assertThat(peer.sent()).as("asked for again once").isEmpty();
        peer.data(Opcode.READ_RESPONSE_ONLY, 100, NEW);
        assertThat(peer.events()).containsExactly("READ SUCCESS");
        assertThat(ScriptedPeer.local(read)).isEqualTo(NEW);
    }

    @Test
    void shouldExecuteAnAtomicOperationOnce() {
        MemorySegment memory = peer.memory().memory();
        memory.set(ValueLayout.JAVA_LONG, 8, 40);
        peer.atomic(Opcode.FETCH_ADD, 500, 8, 2, 0);
        peer.atomic(Opcode.FETCH_ADD, 501, 8, 1, 0);
        peer.sent();
        peer.atomic(Opcode.FETCH_ADD, 500, 8, 2, 0);
        assertThat(peer.sent()).containsExactly("ATOMIC_ACKNOWLEDGE 500 ok 2 before=40");
        assertThat(memory.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(43);
        for (int i = 2; i <= 17; i++) { // the results of 16 are kept
            peer.atomic(Opcode.FETCH_ADD, 500 + i, 8, 1, 0);
            peer.sent();
        }
        peer.atomic(Opcode.FETCH_ADD, 501, 8, 1, 0);
        peer.atomic(Opcode.FETCH_ADD, 502, 8, 1, 0);
        assertThat(peer.sent()).containsExactly("ATOMIC_ACKNOWLEDGE 502 ok 18 before=43");
        assertThat(memory.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(59);
        assertThat(peer.memory().changes()).isEqualTo(18);
    }

    @Test
    void shouldAnswerARepeatOfEachAtomicOperationThatMayBeOutstanding() {
        ScriptedPeer.Options options = new ScriptedPeer.Options();
        options.resources = 20;
        ScriptedPeer many = new ScriptedPeer(options);
        for (int repeat = 0; repeat < 2; repeat++) {
            for (int i = 0; i < options.resources; i++) {
                many.atomic(Opcode.FETCH_ADD, 500 + i, 8, 1, 0);
            }
            assertThat(many.sent())
                    .hasSize(options.resources)
                    .last()
                    .isEqualTo("ATOMIC_ACKNOWLEDGE 519 ok 20 before=19");
        }
        assertThat(many.memory().changes()).isEqualTo(options.resources);
    }

    @Test
    void shouldNotWriteALateDuplicateOverNewerData() {
        peer.write(Opcode.WRITE_ONLY, 500, 0, 64, OLD);
        peer.write(Opcode.WRITE_ONLY, 501, 0, 64, NEW);
        peer.write(Opcode.WRITE_ONLY, 500, 0, 64, OLD);
        assertThat(Arrays.copyOf(peer.memory().content(), 64)).isEqualTo(NEW);
        assertThat(peer.memory().changes()).isEqualTo(2);
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 501 ok 2");
    }

    @Test
    void shouldContinueAMessageAfterAnRnrNakInTheMiddle() {
        peer.write(Opcode.WRITE_FIRST, 500, 0, 300, payload(256, 3));
        peer.write(Opcode.WRITE_LAST_IMMEDIATE, 501, 0, 0, payload(44, 4));
        peer.send(Opcode.SEND_ONLY, 502, 5);
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 501 rnr=14 0");
        assertThat(peer.memory().content()[256]).as("not executed").isZero();
        peer.post(10);
        peer.post(10);
        peer.write(Opcode.WRITE_LAST_IMMEDIATE, 501, 0, 0, payload(44, 4));
        peer.send(Opcode.SEND_ONLY, 502, 5);
        assertThat(peer.events())
                .containsExactly("received WRITE_IMMEDIATE 300", "received SEND 5");
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 502 ok 2");
        assertThat(Arrays.copyOfRange(peer.memory().content(), 256, 300)).isEqualTo(payload(44, 4));
    }

    @Test
    void shouldRepeatFromTheMiddleOfAMessageThatFoundNoReceive() {
        peer.submit(WorkRequest.Kind.WRITE_IMMEDIATE, 300);
        peer.sent();
        peer.rnr(101, 14);
        peer.nak(101, Syndrome.SEQUENCE_ERROR); // as Linux, for what came behind
        assertThat(peer.sent()).as("before the time of the peer").isEmpty();
        peer.pass(1_270_000);
        assertThat(peer.sent()).isEmpty();
        peer.pass(10_000);
        assertThat(peer.sent()).containsExactly("WRITE_LAST_IMMEDIATE 101! [44]");
        peer.ack(101);
        assertThat(peer.events()).containsExactly("WRITE_IMMEDIATE SUCCESS");
    }

    @Test
    void shouldCompareSequenceNumbersInTheRightDirectionAtTheWrap() {
        ScriptedPeer.Options options = new ScriptedPeer.Options();
        options.sendPsn = 0xfffffe;
        options.receivePsn = 0xffffff;
        ScriptedPeer wrapping = new ScriptedPeer(options);
        for (int i = 0; i < 4; i++) {
            wrapping.submit(WorkRequest.Kind.SEND, i);
        }
        assertThat(wrapping.sent()).hasSize(4).last().isEqualTo("SEND_ONLY 1! [3]");
        wrapping.ack(0xfffffd);
        wrapping.ack(0xfffff0);
        wrapping.ack(2);
        assertThat(wrapping.events()).as("neither old nor never sent").isEmpty();
        wrapping.ack(0);
        assertThat(wrapping.events())
                .containsExactly("SEND SUCCESS", "SEND SUCCESS", "SEND SUCCESS");
        wrapping.post(10);
        wrapping.post(10);
        wrapping.send(Opcode.SEND_ONLY, 0xffffff, 1);
        wrapping.send(Opcode.SEND_ONLY, 0, 2);
        wrapping.send(Opcode.SEND_ONLY, 0xffffff, 1);
        assertThat(wrapping.events()).containsExactly("received SEND 1", "received SEND 2");
        assertThat(wrapping.sent()).containsExactly("ACKNOWLEDGE 0 ok 2");
        wrapping.send(Opcode.SEND_ONLY, 2, 3);
        assertThat(wrapping.sent()).containsExactly("ACKNOWLEDGE 1 nak=0 2");
    }

    @Test
    void shouldSplitAMessageOneByteAboveTheMtu() {
        peer.submit(WorkRequest.Kind.SEND, 256);
        peer.submit(WorkRequest.Kind.SEND, 257);
        WorkRequest read = peer.submit(WorkRequest.Kind.READ, 257);
        assertThat(peer.sent())
                .containsExactly(
                        "SEND_ONLY 100! [256]",
                        "SEND_FIRST 101 [256]",
                        "SEND_LAST 102! [1]",
                        "READ_REQUEST 103! @0+257");
        peer.data(Opcode.READ_RESPONSE_FIRST, 103, payload(256, 1));
        assertThat(peer.events()).containsExactly("SEND SUCCESS", "SEND SUCCESS");
        peer.data(Opcode.READ_RESPONSE_LAST, 104, payload(1, 2));
        assertThat(peer.events()).containsExactly("READ SUCCESS");
        assertThat(ScriptedPeer.local(read)[256]).isEqualTo((byte) 2);
        peer.read(500, 0, 257);
        peer.read(502, 0, 256);
        assertThat(peer.sent())
                .containsExactly(
                        "READ_RESPONSE_FIRST 500 ok 1 [256]",
                        "READ_RESPONSE_LAST 501 ok 1 [1]",
                        "READ_RESPONSE_ONLY 502 ok 2 [256]");
    }

    @Test
    void shouldSendTheOperandsOfCompareAndSwapInTheirPlacesAndByteOrder() {
        WorkRequest request = peer.request(WorkRequest.Kind.COMPARE_AND_SWAP, 8);
        request.operand = 0x0102030405060708L;
        request.swap = 0x1112131415161718L;
        request.remoteOffset = 16;
        peer.submit(request);
        assertThat(peer.sent()).containsExactly("COMPARE_SWAP 100! @16");
        ByteBuffer sent = ByteBuffer.wrap(peer.sentBytes(0));
        assertThat(sent.getLong(12 + 12)).as("swap").isEqualTo(request.swap);
        assertThat(sent.getLong(12 + 20)).as("compare").isEqualTo(request.operand);
        peer.atomicResult(100, 0x2122232425262728L);
        assertThat(peer.events()).containsExactly("COMPARE_AND_SWAP SUCCESS");
        assertThat(
                        MemorySegment.ofArray(ScriptedPeer.local(request))
                                .get(ValueLayout.JAVA_LONG_UNALIGNED, 0))
                .isEqualTo(0x2122232425262728L);
    }

    @Test
    void shouldCompareWithTheOneAndStoreTheOtherOperand() {
        MemorySegment memory = peer.memory().memory();
        memory.set(ValueLayout.JAVA_LONG, 8, 7);
        peer.atomic(Opcode.COMPARE_SWAP, 500, 8, 9, 7);
        assertThat(memory.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(9);
        peer.atomic(Opcode.COMPARE_SWAP, 501, 8, 11, 7);
        assertThat(memory.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(9);
        assertThat(peer.sent())
                .containsExactly(
                        "ATOMIC_ACKNOWLEDGE 500 ok 1 before=7",
                        "ATOMIC_ACKNOWLEDGE 501 ok 2 before=9");
    }

    @Test
    void shouldSendTheHighByteOfAnImmediateFirst() {
        WorkRequest request = peer.request(WorkRequest.Kind.SEND_IMMEDIATE, 0);
        request.immediate = 0x11223344;
        peer.submit(request);
        peer.sent();
        assertThat(Arrays.copyOfRange(peer.sentBytes(0), 12, 16))
                .containsExactly(0x11, 0x22, 0x33, 0x44);
        WorkRequest receive = peer.post(10);
        peer.packet(Opcode.SEND_ONLY_IMMEDIATE, 500, true, new byte[0]);
        for (int i = 0; i < 4; i++) {
            peer.headers().set(ValueLayout.JAVA_BYTE, 12 + i, (byte) (0x55 + i));
        }
        peer.deliver();
        assertThat(peer.events()).containsExactly("received SEND_IMMEDIATE 0");
        assertThat(receive.immediate).isEqualTo(0x55565758);
    }
}
