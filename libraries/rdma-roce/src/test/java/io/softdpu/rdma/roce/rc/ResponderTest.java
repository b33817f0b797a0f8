package io.softdpu.rdma.roce.rc;

import static io.softdpu.rdma.roce.rc.ScriptedPeer.payload;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.roce.wire.CmCodec;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Opcode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Execution of the peer's requests, and the answers to them. */
class ResponderTest {
    private final ScriptedPeer peer = new ScriptedPeer();

    @Test
    void shouldAcknowledgeOncePerTransmission() {
        for (int i = 0; i < 3; i++) {
            peer.post(10);
            peer.send(Opcode.SEND_ONLY, 500 + i, i);
        }
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 502 ok 3");
        peer.post(10);
        peer.packet(Opcode.SEND_ONLY, 503, false, new byte[1]).deliver();
        assertThat(peer.sent()).as("not asked for").isEmpty();
        assertThat(peer.events()).hasSize(4);
    }

    @Test
    void shouldRefuseAGapOnce() {
        peer.post(10);
        peer.send(Opcode.SEND_ONLY, 501, 1);
        peer.send(Opcode.SEND_ONLY, 502, 1);
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 500 nak=0 0");
        peer.send(Opcode.SEND_ONLY, 503, 1);
        assertThat(peer.sent()).isEmpty();
        peer.send(Opcode.SEND_ONLY, 500, 1);
        peer.send(Opcode.SEND_ONLY, 502, 1);
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 501 nak=0 1");
        assertThat(peer.events()).containsExactly("received SEND 1");
    }

    @Test
    void shouldIgnoreAPacketHalfOfAllNumbersAway() {
        peer.post(10);
        peer.send(Opcode.SEND_ONLY, 500 ^ 0x800000, 1);
        assertThat(peer.sent()).isEmpty();
        peer.send(Opcode.SEND_ONLY, (500 ^ 0x800000) + 1, 1);
        assertThat(peer.sent()).as("before").containsExactly("ACKNOWLEDGE 499 ok 0");
        peer.send(Opcode.SEND_ONLY, (500 ^ 0x800000) - 1, 1);
        assertThat(peer.sent()).as("behind").containsExactly("ACKNOWLEDGE 500 nak=0 0");
        assertThat(peer.events()).isEmpty();
    }

    @Test
    void shouldAskToWaitForAReceive() {
        peer.send(Opcode.SEND_FIRST, 500, 256);
        peer.send(Opcode.SEND_LAST, 501, 1);
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 500 rnr=14 0");
        peer.send(Opcode.SEND_FIRST, 500, 256);
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 500 rnr=14 0");
        peer.post(257);
        peer.send(Opcode.SEND_FIRST, 500, 256);
        peer.send(Opcode.SEND_LAST, 501, 1);
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 501 ok 1");
        assertThat(peer.events()).containsExactly("received SEND 257");
    }

    @Test
    void shouldEndByAMessageThatIsLargerThanItsReceive() {
        peer.post(256);
        peer.send(Opcode.SEND_FIRST, 500, 256);
        peer.send(Opcode.SEND_LAST, 501, 1);
        assertThat(peer.events()).containsExactly("received TOO_BIG", "ended TOO_BIG");
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 501 nak=3 0");
        peer.send(Opcode.SEND_LAST, 501, 1);
        assertThat(peer.sent())
                .as("the refusal may have been lost")
                .containsExactly("ACKNOWLEDGE 501 nak=3 0");
        peer.send(Opcode.SEND_ONLY, 502, 1);
        assertThat(peer.sent()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = Opcode.class,
            names = {
                "SEND_MIDDLE",
                "SEND_LAST",
                "SEND_LAST_IMMEDIATE",
                "WRITE_MIDDLE",
                "WRITE_LAST",
                "WRITE_LAST_IMMEDIATE",
                "SEND_LAST_INVALIDATE",
                "SEND_ONLY_INVALIDATE"
            })
    void shouldRefuseWhatContinuesNoMessageOrIsNotSupported(Opcode opcode) {
        peer.post(1000);
        peer.packet(opcode, 500, true, payload(256, 1)).deliver();
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 500 nak=1 0");
        assertThat(peer.events()).containsExactly("ended UNEXPECTED");
    }

    @ParameterizedTest
    @EnumSource(
            value = Opcode.class,
            names = {
                "SEND_FIRST",
                "SEND_ONLY",
                "SEND_ONLY_IMMEDIATE",
                "WRITE_FIRST",
                "WRITE_MIDDLE",
                "WRITE_LAST",
                "WRITE_LAST_IMMEDIATE",
                "WRITE_ONLY",
                "WRITE_ONLY_IMMEDIATE",
                "READ_REQUEST",
                "COMPARE_SWAP",
                "FETCH_ADD"
            })
    void shouldRefuseWhatInterruptsASend(Opcode opcode) {
        peer.post(1000);
        peer.send(Opcode.SEND_FIRST, 500, 256);
        peer.packet(opcode, 501, true, opcode.hasPayload() ? payload(256, 1) : new byte[0])
                .deliver();
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 501 nak=1 0");
        assertThat(peer.events())
                .containsExactly("received CONNECTION_ABORTED", "ended UNEXPECTED");
    }

    @ParameterizedTest
    @CsvSource({"SEND_FIRST, 255", "SEND_FIRST, 257", "SEND_ONLY, 257", "SEND_ONLY_IMMEDIATE, 300"})
    void shouldRefuseAFirstPacketOfAnotherLength(Opcode opcode, int bytes) {
        peer.post(1000);
        peer.send(opcode, 500, bytes);
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 500 nak=1 0");
    }

    @ParameterizedTest
    @CsvSource({"SEND_MIDDLE, 255", "SEND_MIDDLE, 257", "SEND_LAST, 0", "SEND_LAST, 257"})
    void shouldRefuseALaterPacketOfAnotherLength(Opcode opcode, int bytes) {
        peer.post(1000);
        peer.send(Opcode.SEND_FIRST, 500, 256);
        peer.send(opcode, 501, bytes);
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 501 nak=1 0");
    }

    @ParameterizedTest
    @CsvSource({
        "WRITE_ONLY, 10, 11",
        "WRITE_ONLY, 10, 9",
        "WRITE_FIRST, 256, 256",
        "WRITE_FIRST, 256, 10",
        "WRITE_FIRST, 256, 2147483649"
    })
    void shouldRefuseAWriteWhoseLengthIsAnother(Opcode opcode, int bytes, long length) {
        peer.write(opcode, 500, 0, length, payload(bytes, 1));
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 500 nak=1 0");
        assertThat(peer.memory().content()).containsOnly(0);
    }

    @ParameterizedTest
    @CsvSource({"WRITE_MIDDLE, 256", "WRITE_LAST, 43", "WRITE_LAST, 45"})
    void shouldRefuseAWriteThatContinuesWithAnotherLength(Opcode opcode, int bytes) {
        peer.write(Opcode.WRITE_FIRST, 500, 0, 300, payload(256, 1));
        peer.write(opcode, 501, 0, 0, payload(bytes, 1));
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 501 nak=1 0");
    }

    @ParameterizedTest
    @CsvSource({"-1, 1", "4096, 1", "4095, 2", "0, 4097", "4000, 200", "-65537, 8"})
    void shouldRefuseARangeOutsideOfTheMemory(long at, int length) {
        peer.read(500, at, length);
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 500 nak=2 0");
        ScriptedPeer other = new ScriptedPeer();
        byte[] data = payload(Math.min(length, 256), 1);
        other.write(length > 256 ? Opcode.WRITE_FIRST : Opcode.WRITE_ONLY, 500, at, length, data);
        assertThat(other.sent()).containsExactly("ACKNOWLEDGE 500 nak=2 0");
        assertThat(other.events()).containsExactly("ended NOT_PERMITTED");
        assertThat(other.memory().content()).containsOnly(0);
        assertThat(other.memory().guardsAreWhole()).isTrue();
    }

    @Test
    void shouldNeedNoKeyForZeroBytes() {
        peer.read(500, -5, 0, 0x999);
        peer.packet(Opcode.WRITE_ONLY, 501, true, new byte[0]);
        Headers.writeReth(peer.headers(), 12, 77, 0x999, 0);
        peer.deliver();
        assertThat(peer.sent())
                .containsExactly("READ_RESPONSE_ONLY 500 ok 1 [0]", "ACKNOWLEDGE 501 ok 2");
        assertThat(peer.memory().changes()).isZero();
    }

    @ParameterizedTest
    @EnumSource(
            value = AccessFlag.class,
            names = {"RDMA_READ", "RDMA_WRITE", "RDMA_ATOMIC"})
    void shouldRefuseWhatTheInstanceDoesNotGrant(AccessFlag only) {
        List<String> granted = new ArrayList<>();
        for (AccessFlag used :
                List.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE, AccessFlag.RDMA_ATOMIC)) {
            ScriptedPeer.Options options = new ScriptedPeer.Options();
            options.grants = Permissions.of(only);
            ScriptedPeer each = new ScriptedPeer(options);
            switch (used) {
                case RDMA_READ -> each.read(500, 0, 0);
                case RDMA_WRITE -> each.write(Opcode.WRITE_ONLY, 500, 0, 0, new byte[0]);
                default -> each.atomic(Opcode.FETCH_ADD, 500, 0, 1, 0);
            }
            if (!each.sent().equals(List.of("ACKNOWLEDGE 500 nak=2 0"))) {
                granted.add(used.name());
            }
        }
        assertThat(granted).containsExactly(only.name());
    }

    @Test
    void shouldCheckTheMemoryForEachPacket() {
        peer.write(Opcode.WRITE_FIRST, 500, 0, 300, payload(256, 1));
        peer.memory().withdraw();
        peer.write(Opcode.WRITE_LAST, 501, 0, 0, payload(44, 1));
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 501 nak=2 0");
        assertThat(peer.memory().content()[256]).isZero();
        ScriptedPeer other = new ScriptedPeer();
        other.read(500, 0, 1000);
        other.adapter().transmit(1, other.clock().nowNanos());
        other.memory().withdraw();
        assertThat(other.sent())
                .containsExactly("READ_RESPONSE_FIRST 500 ok 1 [256]", "ACKNOWLEDGE 501 nak=2 1");
        assertThat(other.events()).containsExactly("ended NOT_PERMITTED");
        other.read(500, 0, 1000);
        assertThat(other.sent())
                .as("both may have been lost")
                .containsExactly("ACKNOWLEDGE 501 nak=2 1");
    }

    @Test
    void shouldNotEndByALateRepeatOfAReadOfMemoryThatIsGone() {
        peer.read(500, 0, 300);
        peer.sent();
        peer.read(500, 0, 300);
        peer.memory().withdraw();
        assertThat(peer.sent()).isEmpty();
        peer.read(500, 0, 300);
        assertThat(peer.sent()).isEmpty();
        assertThat(peer.events()).isEmpty();
    }

    @Test
    void shouldRefuseAnAtomicOperationAtAnotherAlignment() {
        peer.atomic(Opcode.FETCH_ADD, 500, 4, 1, 0);
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 500 nak=1 0");
    }

    @Test
    void shouldAnswerARepeatedReadFromTheByteThatIsAskedFor() {
        peer.read(500, 0, 1000);
        assertThat(peer.sent()).hasSize(4);
        peer.read(502, 512, 488);
        assertThat(peer.sent())
                .containsExactly(
                        "READ_RESPONSE_FIRST 502 ok 1 [256]", "READ_RESPONSE_LAST 503 ok 1 [232]");
        peer.read(502, 512, 1000);
        assertThat(peer.sent()).as("more than was asked for").isEmpty();
    }

    @Test
    void shouldAnswerOneRepeatOfAReadAtATime() {
        peer.read(500, 0, 1000);
        peer.adapter().transmit(2, peer.clock().nowNanos());
        for (int i = 0; i < 1000; i++) {
            peer.read(500, 0, 1000);
        }
        assertThat(peer.sent()).hasSize(2 + 4);
        peer.send(Opcode.SEND_ONLY, 500, 1);
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 499 ok 1");
    }

    @Test
    void shouldAnswerARepeatBeforeLaterRequestsWhoseAnswersWait() {
        peer.read(500, 0, 300);
        peer.read(502, 1000, 600);
        peer.adapter().transmit(3, peer.clock().nowNanos());
        peer.read(501, 256, 44); // 501 was lost, and all from there on is asked for again
        peer.read(502, 1000, 600);
        assertThat(peer.sent())
                .containsExactly(
                        "READ_RESPONSE_FIRST 500 ok 1 [256]",
                        "READ_RESPONSE_LAST 501 ok 1 [44]",
                        "READ_RESPONSE_FIRST 502 ok 2 [256]",
                        "READ_RESPONSE_ONLY 501 ok 2 [44]",
                        "READ_RESPONSE_FIRST 502 ok 2 [256]",
                        "READ_RESPONSE_MIDDLE 503 [256]",
                        "READ_RESPONSE_LAST 504 ok 2 [88]");
    }

    @Test
    void shouldRepeatTheResultOfAnAtomicOperationBeforeALaterReadThatWaits() {
        peer.atomic(Opcode.FETCH_ADD, 500, 8, 1, 0);
        peer.read(501, 0, 300);
        peer.adapter().transmit(2, peer.clock().nowNanos());
        peer.atomic(Opcode.FETCH_ADD, 500, 8, 1, 0);
        peer.read(501, 0, 300);
        assertThat(peer.sent())
                .containsExactly(
                        "ATOMIC_ACKNOWLEDGE 500 ok 1 before=0",
                        "READ_RESPONSE_FIRST 501 ok 2 [256]",
                        "ATOMIC_ACKNOWLEDGE 500 ok 2 before=0",
                        "READ_RESPONSE_FIRST 501 ok 2 [256]",
                        "READ_RESPONSE_LAST 502 ok 2 [44]");
    }

    @Test
    void shouldKeepAsManyAnswersAsAgreedAndTheirRepeats() {
        for (int i = 0; i < 100; i++) {
            peer.read(500 + i, 0, 1);
        }
        assertThat(peer.sent()) // twice four
                .hasSize(9)
                .last()
                .isEqualTo("ACKNOWLEDGE 508 nak=0 8");
        peer.read(508, 0, 1);
        assertThat(peer.sent()).containsExactly("READ_RESPONSE_ONLY 508 ok 9 [1]");
    }

    // ---- answers that wait at the end of the connection ----

    @Test
    void shouldAcknowledgeAfterItsEndWhatItHasExecuted() {
        peer.post(10);
        peer.send(Opcode.SEND_ONLY, 500, 1);
        peer.atomic(Opcode.FETCH_ADD, 501, 0, 5, 0);
        peer.post(10);
        peer.send(Opcode.SEND_ONLY, 502, 2);
        peer.queuePair().end(Status.CONNECTION_ABORTED);
        assertThat(peer.events()).containsExactly("received SEND 1", "received SEND 2");
        assertThat(peer.sent())
                .containsExactly(
                        "ACKNOWLEDGE 500 ok 1",
                        "ATOMIC_ACKNOWLEDGE 501 ok 2 before=0",
                        "ACKNOWLEDGE 502 ok 3");
        peer.send(Opcode.SEND_ONLY, 502, 2);
        assertThat(peer.sent()).as("it drops packets").isEmpty();
    }

    @Test
    void shouldAnswerNoReadAfterItsEndAndNothingBehindIt() {
        peer.post(10);
        peer.send(Opcode.SEND_ONLY, 500, 1);
        peer.read(501, 0, 10);
        peer.atomic(Opcode.FETCH_ADD, 502, 0, 5, 0);
        peer.queuePair().end(Status.CONNECTION_ABORTED);
        assertThat(peer.sent()).containsExactly("ACKNOWLEDGE 500 ok 1");
    }

    @Test
    void shouldDelayDatagramsByOneTurnIfItHasFailed() {
        peer.read(500, 0, 4096);
        peer.read(516, 0, 4096);
        peer.send(Opcode.SEND_LAST, 532, 1);
        MemorySegment datagram = MemorySegment.ofArray(new byte[CmCodec.MESSAGE_BYTES]);
        peer.adapter().sendDatagram(new Gid(0, 1), datagram, 0);
        List<String> sent = peer.sent();
        assertThat(sent).hasSize(16 + 1 + 16 + 1).last().isEqualTo("ACKNOWLEDGE 532 nak=1 2");
        assertThat(sent.get(16)).startsWith("DATAGRAM");
    }

    @Test
    void shouldSendNothingAfterItWasDestroyed() {
        peer.post(10);
        peer.send(Opcode.SEND_ONLY, 500, 1);
        peer.adapter().destroy(peer.queuePair());
        assertThat(peer.sent()).isEmpty();
    }

    // ---- resources ----

    @Test
    void shouldRefuseReadsAndAtomicOperationsWithoutResources() {
        ScriptedPeer.Options options = new ScriptedPeer.Options();
        options.resources = 0;
        ScriptedPeer without = new ScriptedPeer(options);
        without.read(500, 0, 1);
        assertThat(without.sent()).containsExactly("ACKNOWLEDGE 500 nak=1 0");
    }
}
