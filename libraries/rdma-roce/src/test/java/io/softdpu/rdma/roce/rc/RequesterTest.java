package io.softdpu.rdma.roce.rc;

import static io.softdpu.rdma.roce.rc.ScriptedPeer.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Syndrome;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Packets of requests, their window, their repeats, and their completions. */
class RequesterTest {
    private static final long SECOND = 1_000_000_000;

    private static ScriptedPeer withWindow(int packets, long bytes) {
        ScriptedPeer.Options options = new ScriptedPeer.Options();
        options.limits =
                new Limits(packets, bytes, 1024, 16, 16, 2 * SECOND, RnrTimer.atLeast(1_280_000));
        return new ScriptedPeer(options);
    }

    @ParameterizedTest
    @CsvSource({
        "SEND, 0, SEND_ONLY 100! [0]",
        "SEND_IMMEDIATE, 3, SEND_ONLY_IMMEDIATE 100! [3]",
        "WRITE, 0, WRITE_ONLY 100! @0+0 [0]",
        "WRITE_IMMEDIATE, 5, WRITE_ONLY_IMMEDIATE 100! @0+5 [5]",
        "READ, 0, READ_REQUEST 100! @0+0",
        "FETCH_AND_ADD, 8, FETCH_ADD 100! @0"
    })
    void shouldSendARequestOfOnePacket(WorkRequest.Kind kind, int bytes, String packet) {
        ScriptedPeer peer = new ScriptedPeer();
        peer.submit(kind, bytes);
        assertThat(peer.sent()).containsExactly(packet);
    }

    @ParameterizedTest
    @CsvSource({
        "SEND, SEND_FIRST 100 [256], SEND_MIDDLE 101 [256], SEND_LAST 102! [88]",
        "SEND_IMMEDIATE, SEND_FIRST 100 [256], SEND_MIDDLE 101 [256],"
                + " SEND_LAST_IMMEDIATE 102! [88]",
        "WRITE, WRITE_FIRST 100 @0+600 [256], WRITE_MIDDLE 101 [256], WRITE_LAST 102! [88]",
        "WRITE_IMMEDIATE, WRITE_FIRST 100 @0+600 [256], WRITE_MIDDLE 101 [256],"
                + " WRITE_LAST_IMMEDIATE 102! [88]"
    })
    void shouldSendARequestOfSeveralPackets(
            WorkRequest.Kind kind, String first, String middle, String last) {
        ScriptedPeer peer = new ScriptedPeer();
        peer.submit(kind, 600);
        assertThat(peer.sent()).containsExactly(first, middle, last);
        peer.ack(101);
        assertThat(peer.events()).isEmpty();
        peer.ack(102);
        assertThat(peer.events()).containsExactly(kind + " SUCCESS");
        peer.submit(WorkRequest.Kind.SEND, 1);
        assertThat(peer.sent()).containsExactly("SEND_ONLY 103! [1]");
    }

    @Test
    void shouldReserveANumberForEachPacketOfTheAnswerToARead() {
        ScriptedPeer peer = new ScriptedPeer();
        peer.submit(WorkRequest.Kind.READ, 600);
        peer.submit(WorkRequest.Kind.SEND, 1);
        assertThat(peer.sent()).containsExactly("READ_REQUEST 100! @0+600", "SEND_ONLY 103! [1]");
    }

    @Test
    void shouldSendNoMorePacketsThanTheWindowAndAskForAnAcknowledgementAtItsEnd() {
        ScriptedPeer peer = withWindow(3, 1 << 20);
        peer.submit(WorkRequest.Kind.SEND, 2000);
        assertThat(peer.sent())
                .containsExactly(
                        "SEND_FIRST 100 [256]", "SEND_MIDDLE 101 [256]", "SEND_MIDDLE 102! [256]");
        peer.ack(100);
        assertThat(peer.sent()).containsExactly("SEND_MIDDLE 103! [256]");
    }

    @Test
    void shouldSendNoMoreBytesThanTheWindowButOnePacket() {
        ScriptedPeer peer = withWindow(100, 600);
        peer.submit(WorkRequest.Kind.SEND, 1000);
        assertThat(peer.sent()).containsExactly("SEND_FIRST 100 [256]", "SEND_MIDDLE 101! [256]");
        ScriptedPeer tiny = withWindow(100, 1);
        tiny.submit(WorkRequest.Kind.SEND, 1000);
        assertThat(tiny.sent()).containsExactly("SEND_FIRST 100! [256]");
        tiny.ack(100);
        assertThat(tiny.sent()).containsExactly("SEND_MIDDLE 101! [256]");
    }

    @Test
    void shouldAskForAnAcknowledgementAfterSomeBytes() {
        ScriptedPeer peer = withWindow(100, 1 << 20); // after 1024
        peer.submit(WorkRequest.Kind.WRITE, 2500);
        List<String> asking = peer.sent().stream().filter(packet -> packet.contains("!")).toList();
        assertThat(asking)
                .containsExactly(
                        "WRITE_MIDDLE 103! [256]",
                        "WRITE_MIDDLE 107! [256]",
                        "WRITE_LAST 109! [196]");
    }

    @Test
    void shouldAskForALongReadInParts() {
        ScriptedPeer peer = withWindow(4, 1 << 20);
        WorkRequest read = peer.submit(WorkRequest.Kind.READ, 1200);
        assertThat(peer.sent())
                .containsExactly("READ_REQUEST 100! @0+512", "READ_REQUEST 102! @512+512");
        peer.data(Opcode.READ_RESPONSE_FIRST, 100, payload(256, 0));
        assertThat(peer.sent()).containsExactly("READ_REQUEST 104! @1024+176");
        peer.data(Opcode.READ_RESPONSE_LAST, 101, payload(256, 1));
        peer.data(Opcode.READ_RESPONSE_FIRST, 102, payload(256, 2));
        peer.data(Opcode.READ_RESPONSE_LAST, 103, payload(256, 3));
        peer.data(Opcode.READ_RESPONSE_ONLY, 104, payload(176, 4));
        assertThat(peer.events()).containsExactly("READ SUCCESS");
        assertThat(Arrays.copyOfRange(ScriptedPeer.local(read), 1024, 1200))
                .isEqualTo(payload(176, 4));
    }

    @Test
    void shouldAskForNoMoreAnswersThanThePeerGives() {
        ScriptedPeer.Options options = new ScriptedPeer.Options();
        options.resources = 2;
        ScriptedPeer peer = new ScriptedPeer(options);
        for (int i = 0; i < 3; i++) {
            peer.submit(WorkRequest.Kind.FETCH_AND_ADD, 8);
        }
        peer.submit(WorkRequest.Kind.SEND, 1);
        assertThat(peer.sent()).containsExactly("FETCH_ADD 100! @0", "FETCH_ADD 101! @0");
        peer.atomicResult(100, 1);
        assertThat(peer.sent()).containsExactly("FETCH_ADD 102! @0", "SEND_ONLY 103! [1]");
        options.resources = 0;
        ScriptedPeer without = new ScriptedPeer(options);
        assertThat(
                        Refusal.statusOf(
                                without.queuePair()
                                        .submit(without.request(WorkRequest.Kind.READ, 1))))
                .isEqualTo(Status.NOT_SUPPORTED);
    }

    @Test
    void shouldResumeAReadAtTheFirstMissingByte() {
        ScriptedPeer peer = new ScriptedPeer();
        WorkRequest read = peer.submit(WorkRequest.Kind.READ, 1000);
        peer.sent();
        peer.data(Opcode.READ_RESPONSE_FIRST, 100, payload(256, 0));
        peer.data(Opcode.READ_RESPONSE_MIDDLE, 102, payload(256, 2));
        assertThat(peer.sent()).containsExactly("READ_REQUEST 101! @256+744");
        peer.data(Opcode.READ_RESPONSE_LAST, 103, payload(232, 3));
        assertThat(peer.sent()).as("once per gap").isEmpty();
        peer.data(Opcode.READ_RESPONSE_FIRST, 101, payload(256, 1));
        peer.data(Opcode.READ_RESPONSE_MIDDLE, 102, payload(256, 2));
        peer.data(Opcode.READ_RESPONSE_LAST, 103, payload(232, 3));
        assertThat(peer.events()).containsExactly("READ SUCCESS");
        assertThat(Arrays.copyOfRange(ScriptedPeer.local(read), 256, 512))
                .isEqualTo(payload(256, 1));
    }

    @Test
    void shouldCompleteEarlierWritesByTheDataOfARead() {
        ScriptedPeer peer = new ScriptedPeer();
        peer.submit(WorkRequest.Kind.WRITE, 10);
        peer.submit(WorkRequest.Kind.READ, 10);
        peer.submit(WorkRequest.Kind.SEND, 10);
        peer.sent();
        peer.ack(102);
        assertThat(peer.events()).containsExactly("WRITE SUCCESS");
        assertThat(peer.sent())
                .as("the data are missing")
                .containsExactly("READ_REQUEST 101! @0+10", "SEND_ONLY 102! [10]");
        peer.data(Opcode.READ_RESPONSE_ONLY, 101, payload(10, 1));
        peer.ack(102);
        assertThat(peer.events()).containsExactly("READ SUCCESS", "SEND SUCCESS");
    }

    /** As of a peer with another path MTU: its repeats have the same length. */
    @ParameterizedTest
    @CsvSource({
        "READ_RESPONSE_FIRST, 128, 256",
        "READ_RESPONSE_ONLY, 600, 256",
        "READ_RESPONSE_FIRST, 512, 256",
        "READ_RESPONSE_ONLY, 0, 256"
    })
    void shouldEndByAnAnswerToAReadOfAnotherLength(Opcode opcode, int bytes, int expected) {
        ScriptedPeer peer = new ScriptedPeer();
        WorkRequest read = peer.submit(WorkRequest.Kind.READ, 600);
        peer.submit(WorkRequest.Kind.SEND, 1);
        byte[] before = ScriptedPeer.local(read);
        peer.sent();
        peer.data(opcode, 100, payload(bytes, 1));
        assertThat(ScriptedPeer.local(read)).as("nothing is taken").isEqualTo(before);
        assertThat(peer.events())
                .containsExactly("READ UNEXPECTED", "SEND CONNECTION_ABORTED", "ended UNEXPECTED");
        assertThat(peer.reason())
                .contains("kind=READ, lengthBytes=600, mtuBytes=256")
                .endsWith("payloadBytes=" + bytes + ", expected=" + expected);
    }

    @Test
    void shouldEndByALastAnswerOfAnotherLength() {
        ScriptedPeer peer = new ScriptedPeer();
        peer.submit(WorkRequest.Kind.READ, 300);
        peer.sent();
        peer.data(Opcode.READ_RESPONSE_FIRST, 100, payload(256, 0));
        peer.data(Opcode.READ_RESPONSE_LAST, 101, payload(48, 1));
        assertThat(peer.events()).containsExactly("READ UNEXPECTED", "ended UNEXPECTED");
        assertThat(peer.reason()).endsWith("payloadBytes=48, expected=44");
    }

    @Test
    void shouldIgnoreAnswersThatNobodyAskedFor() {
        ScriptedPeer peer = new ScriptedPeer();
        peer.ack(100);
        peer.atomicResult(100, 1);
        peer.data(Opcode.READ_RESPONSE_ONLY, 100, payload(10, 1));
        peer.nak(100, Syndrome.REMOTE_ACCESS_ERROR);
        peer.submit(WorkRequest.Kind.SEND, 10);
        peer.sent();
        peer.ack(101);
        peer.ack(99);
        peer.ack(100 ^ 0x800000);
        peer.nak(101, Syndrome.INVALID_REQUEST);
        peer.rnr(101, 1);
        peer.atomicResult(100, 1);
        peer.data(Opcode.READ_RESPONSE_ONLY, 100, payload(10, 1));
        peer.nak(100, 4); // reserved
        assertThat(peer.events()).isEmpty();
        assertThat(peer.sent()).isEmpty();
        peer.ack(100);
        assertThat(peer.events()).containsExactly("SEND SUCCESS");
    }

    @ParameterizedTest
    @CsvSource({"1, UNEXPECTED", "2, NOT_PERMITTED", "3, IO_FAILED"})
    void shouldEndByAFatalAnswer(int code, Status status) {
        ScriptedPeer peer = new ScriptedPeer();
        peer.submit(WorkRequest.Kind.SEND, 1);
        peer.submit(WorkRequest.Kind.WRITE, 300);
        peer.submit(WorkRequest.Kind.SEND, 1);
        peer.sent();
        peer.nak(102, code);
        assertThat(peer.events())
                .containsExactly(
                        "SEND SUCCESS",
                        "WRITE " + status,
                        "SEND CONNECTION_ABORTED",
                        "ended " + status);
        assertThat(peer.sent()).isEmpty();
        assertThat(peer.queuePair().state()).isEqualTo(QueuePair.State.ENDED);
    }

    /** ICMP errors by which nothing receives at the peer's port; anyone can forge them. */
    @Test
    void shouldEndByTwoRefusalsInARowOfPacketsThatAreAwaited() {
        ScriptedPeer peer = new ScriptedPeer();
        peer.submit(WorkRequest.Kind.SEND, 1);
        peer.submit(WorkRequest.Kind.SEND, 1);
        peer.submit(WorkRequest.Kind.SEND, 1);
        peer.sent();
        peer.queuePair().refused(99, 0); // not of a packet that was sent
        peer.queuePair().refused(103, 0);
        peer.queuePair().refused(100, 0);
        peer.ack(100);
        peer.queuePair().refused(100, 0);
        peer.queuePair().refused(101, 0);
        assertThat(peer.events()).containsExactly("SEND SUCCESS");
        peer.queuePair().refused(102, 0);
        assertThat(peer.events())
                .containsExactly(
                        "SEND CONNECTION_RESET", "SEND CONNECTION_RESET", "ended CONNECTION_RESET");
    }

    @Test
    void shouldTellWhichRequestHasFailedBehindAReadWithoutData() {
        ScriptedPeer peer = new ScriptedPeer();
        peer.submit(WorkRequest.Kind.READ, 1);
        peer.submit(WorkRequest.Kind.SEND, 1);
        peer.sent();
        peer.nak(101, Syndrome.REMOTE_OPERATIONAL_ERROR);
        assertThat(peer.events())
                .containsExactly("READ CONNECTION_ABORTED", "SEND IO_FAILED", "ended IO_FAILED");
    }

    // ---- losses ----

    private static int last(List<String> packets) {
        return Integer.parseInt(packets.getLast().split(" ")[1].replace("!", ""));
    }

    @Test
    void shouldHalveTheWindowByALossAndWidenItByAcknowledgements() {
        ScriptedPeer peer = withWindow(64, 1 << 20);
        peer.submit(WorkRequest.Kind.SEND, 1000 * 256);
        assertThat(peer.sent()).hasSize(64);
        peer.nak(100, Syndrome.SEQUENCE_ERROR);
        List<String> flight = peer.sent();
        assertThat(flight).hasSize(32).startsWith("SEND_FIRST 100 [256]");
        assertThat(flight).element(3).as("asks sooner").isEqualTo("SEND_MIDDLE 103! [256]");
        List<Integer> windows = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            peer.ack(last(flight));
            flight = peer.sent();
            windows.add(flight.size());
        }
        assertThat(windows).startsWith(36, 40, 45, 51, 57, 64).endsWith(64, 64);
    }

    @Test
    void shouldTakePacketsThatAreLateForOneLoss() {
        ScriptedPeer peer = withWindow(64, 1 << 20);
        peer.submit(WorkRequest.Kind.SEND, 1000 * 256);
        peer.sent();
        for (int psn = 100; psn <= 103; psn++) {
            peer.nak(psn, Syndrome.SEQUENCE_ERROR);
            assertThat(peer.sent()).as("from %d", psn).hasSize(32);
        }
        peer.nak(104, Syndrome.SEQUENCE_ERROR);
        assertThat(peer.sent()).as("another loss").hasSize(16);
        for (int psn = 110; psn < 150; psn += 7) {
            peer.nak(psn, Syndrome.SEQUENCE_ERROR);
            assertThat(peer.sent()).as("from %d", psn).hasSizeBetween(8, 16);
        }
    }

    @Test
    void shouldAskForAReadAgainInPartsOfThoseBefore() {
        ScriptedPeer peer = withWindow(64, 1 << 20);
        peer.submit(WorkRequest.Kind.READ, 96 * 256);
        assertThat(peer.sent())
                .containsExactly("READ_REQUEST 100! @0+8192", "READ_REQUEST 132! @8192+8192");
        peer.data(Opcode.READ_RESPONSE_FIRST, 100, payload(256, 0));
        peer.data(Opcode.READ_RESPONSE_MIDDLE, 102, payload(256, 2));
        assertThat(peer.sent()).containsExactly("READ_REQUEST 101! @256+3840");
        for (int psn = 101; psn < 116; psn++) {
            peer.data(Opcode.READ_RESPONSE_MIDDLE, psn, payload(256, psn));
        }
        assertThat(peer.sent()).containsExactly("READ_REQUEST 116! @4096+4096");
        for (int psn = 116; psn < 132; psn++) {
            peer.data(Opcode.READ_RESPONSE_MIDDLE, psn, payload(256, psn));
        }
        assertThat(peer.sent()).containsExactly("READ_REQUEST 132! @8192+4096");
        for (int psn = 132; psn < 148; psn++) {
            peer.data(Opcode.READ_RESPONSE_MIDDLE, psn, payload(256, psn));
        }
        assertThat(peer.sent())
                .as("and one that is new")
                .containsExactly("READ_REQUEST 148! @12288+4096", "READ_REQUEST 164! @16384+4096");
    }

    /** Its answers do not put off the end. */
    @Test
    void shouldFailAfterTheTimeoutsHoweverOftenAPeerMissesTheSamePacket() {
        ScriptedPeer peer = withWindow(64, 1 << 20);
        peer.submit(WorkRequest.Kind.SEND, 64 * 256);
        int packets = peer.sent().size();
        long end = 8 * Path.DEFAULT_TIMEOUT_NANOS;
        long step = 1_000_000;
        for (long passed = step; passed < end; passed += step) {
            peer.pass(step);
            peer.nak(100, Syndrome.SEQUENCE_ERROR);
            packets += peer.sent().size();
        }
        assertThat(peer.events()).isEmpty();
        long timeouts = peer.queuePair().counters().get(ConnectionCounter.TIMEOUTS);
        assertThat(timeouts).isGreaterThan(7);
        assertThat(packets)
                .as("two flights of 32 for each")
                .isLessThanOrEqualTo(96 + 64 * (int) timeouts);
        peer.pass(step);
        assertThat(peer.events())
                .containsExactly("SEND CONNECTION_RESET", "ended CONNECTION_RESET");
    }

    // ---- time ----

    @Test
    void shouldFailAfterTheTimeoutsWithoutProgressHoweverManyRepeatsFit() {
        ScriptedPeer peer = new ScriptedPeer();
        peer.submit(WorkRequest.Kind.SEND, 1);
        peer.sent();
        peer.pass(8 * Path.DEFAULT_TIMEOUT_NANOS - 1);
        assertThat(peer.events()).isEmpty();
        assertThat(peer.sent()).as("repeats").hasSizeGreaterThan(7);
        peer.pass(1);
        assertThat(peer.events())
                .containsExactly("SEND CONNECTION_RESET", "ended CONNECTION_RESET");
    }

    @Test
    void shouldFailAfterOneTimeoutWithoutRetries() {
        ScriptedPeer.Options options = new ScriptedPeer.Options();
        options.transportRetries = 0;
        ScriptedPeer peer = new ScriptedPeer(options);
        peer.submit(WorkRequest.Kind.SEND, 1);
        peer.sent();
        peer.pass(Path.DEFAULT_TIMEOUT_NANOS - 1);
        assertThat(peer.events()).isEmpty();
        peer.pass(1);
        assertThat(peer.events())
                .containsExactly("SEND CONNECTION_RESET", "ended CONNECTION_RESET");
    }

    @Test
    void shouldBeginTheTimeAgainWithEachProgress() {
        ScriptedPeer peer = new ScriptedPeer();
        peer.submit(WorkRequest.Kind.SEND, 600);
        peer.sent();
        peer.pass(4 * SECOND);
        peer.ack(100);
        peer.pass(4 * SECOND);
        peer.ack(101);
        peer.pass(4 * SECOND);
        peer.ack(102);
        assertThat(peer.events()).containsExactly("SEND SUCCESS");
    }

    @Test
    void shouldRepeatSoonerOnceARoundTripWasMeasuredAndLaterWithEachRepeat() {
        ScriptedPeer peer = new ScriptedPeer();
        for (int i = 0; i < 20; i++) {
            peer.submit(WorkRequest.Kind.SEND, 1);
            peer.sent();
            peer.pass(2_000_000);
            peer.ack(100 + i);
        }
        peer.events();
        peer.submit(WorkRequest.Kind.SEND, 1);
        peer.sent();
        peer.pass(3_900_000);
        assertThat(peer.sent()).isEmpty();
        peer.pass(100_000);
        assertThat(peer.sent()).containsExactly("SEND_ONLY 120! [1]");
        peer.pass(7_900_000);
        assertThat(peer.sent()).isEmpty();
        peer.pass(200_000);
        assertThat(peer.sent()).containsExactly("SEND_ONLY 120! [1]");
    }

    @ParameterizedTest
    @CsvSource({"30, 3", "33, 3", "5, 1", "100, 4"})
    void shouldLearnThatThePathHasBecomeSlowerThanItsTime(int millis, int repeatsAtFirst) {
        ScriptedPeer peer = new ScriptedPeer();
        for (int i = 0; i < 20; i++) {
            peer.submit(WorkRequest.Kind.SEND, 1);
            peer.sent();
            peer.clock().advanceNanos(100_000);
            peer.ack(100 + i);
        }
        List<Integer> repeats = new ArrayList<>();
        for (int i = 20; i < 40; i++) {
            peer.submit(WorkRequest.Kind.SEND, 1);
            assertThat(peer.sent()).containsExactly("SEND_ONLY " + (100 + i) + "! [1]");
            peer.pass(millis * 1_000_000L);
            repeats.add(peer.sent().size());
            peer.ack(100 + i);
        }
        assertThat(repeats.subList(0, 8)).containsOnly(repeatsAtFirst);
        assertThat(repeats.subList(8, 20)).containsOnly(0);
    }

    @Test
    void shouldWaitLongerForOnePacketInEightIfAllGetLost() {
        ScriptedPeer peer = new ScriptedPeer();
        peer.submit(WorkRequest.Kind.SEND, 1);
        peer.sent();
        peer.ack(100); // the time is 4 ms, the least
        List<Integer> repeats = new ArrayList<>();
        for (int i = 1; i <= 18; i++) {
            peer.submit(WorkRequest.Kind.SEND, 1);
            peer.sent();
            peer.pass(i == 9 || i == 17 ? 40_000_000 : 15_000_000);
            repeats.add(peer.sent().size());
            peer.ack(100 + i);
        }
        assertThat(repeats).containsExactly(2, 2, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 2, 1, 2);
    }

    @ParameterizedTest
    @EnumSource(
            value = WorkRequest.Kind.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"RECEIVE"})
    void shouldWaitForAPeerThatIsNotReadyForARequestOfAnyKind(WorkRequest.Kind kind) {
        ScriptedPeer peer = new ScriptedPeer();
        peer.submit(kind, 8);
        List<String> first = peer.sent();
        peer.rnr(100, 14);
        peer.pass(1_270_000);
        assertThat(peer.sent()).isEmpty();
        peer.pass(10_000);
        assertThat(peer.sent()).isEqualTo(first);
    }

    @Test
    void shouldCountRetriesWithoutAReceiveAsTimeOfTheInstance() {
        ScriptedPeer.Options options = new ScriptedPeer.Options();
        options.rnrRetries = 2; // of 655.36 ms
        ScriptedPeer peer = new ScriptedPeer(options);
        peer.submit(WorkRequest.Kind.SEND, 1);
        peer.sent();
        long waited = 0;
        while (waited < 1_310_000_000) {
            peer.rnr(100, 14); // of 1.28 ms
            peer.pass(1_280_000);
            waited += 1_280_000;
            assertThat(peer.sent()).containsExactly("SEND_ONLY 100! [1]");
        }
        assertThat(peer.events()).isEmpty();
        peer.pass(1_280_000);
        peer.rnr(100, 14);
        assertThat(peer.events()).containsExactly("SEND IO_FAILED", "ended IO_FAILED");
    }

    @ParameterizedTest
    @CsvSource({"0, true", "7, false"})
    void shouldRetryWithoutAReceiveNeverOrWithoutALimit(int retries, boolean ends) {
        ScriptedPeer.Options options = new ScriptedPeer.Options();
        options.rnrRetries = retries;
        ScriptedPeer peer = new ScriptedPeer(options);
        peer.submit(WorkRequest.Kind.SEND, 1);
        peer.sent();
        for (int i = 0; i < 100 && peer.queuePair().isConnected(); i++) {
            peer.rnr(100, 0); // 655.36 ms
            peer.pass(655_360_000);
        }
        assertThat(peer.queuePair().isConnected()).isEqualTo(!ends);
        peer.ack(100);
        assertThat(peer.events()).first().isEqualTo(ends ? "SEND IO_FAILED" : "SEND SUCCESS");
    }

    // ---- the peer that says nothing ----

    @Test
    void shouldAskAPeerThatHasSaidNothingForTwoSeconds() {
        ScriptedPeer peer = new ScriptedPeer();
        peer.pass(2 * SECOND - 1);
        assertThat(peer.sent()).isEmpty();
        peer.pass(1);
        assertThat(peer.sent()).containsExactly("SEND_ONLY 99! [0]");
        peer.submit(WorkRequest.Kind.SEND, 1);
        assertThat(peer.sent()).as("a request waits for the answer").isEmpty();
        peer.ack(0xffffff); // as Linux, which has executed nothing
        assertThat(peer.events()).isEmpty();
        assertThat(peer.sent()).containsExactly("SEND_ONLY 100! [1]");
        peer.ack(100);
        assertThat(peer.events()).containsExactly("SEND SUCCESS");
        peer.pass(2 * SECOND);
        assertThat(peer.sent()).containsExactly("SEND_ONLY 100! [0]");
        peer.send(Opcode.SEND_ONLY, 600, 1);
        peer.pass(SECOND);
        assertThat(peer.sent())
                .as("every packet is an answer")
                .containsExactly("ACKNOWLEDGE 500 nak=0 0");
    }

    @Test
    void shouldEndWhenAPeerDoesNotAnswerTheQuestion() {
        ScriptedPeer peer = new ScriptedPeer();
        peer.pass(2 * SECOND + 8 * Path.DEFAULT_TIMEOUT_NANOS - 1);
        assertThat(peer.events()).isEmpty();
        assertThat(peer.sent()).hasSizeGreaterThan(7).containsOnly("SEND_ONLY 99! [0]");
        peer.pass(1);
        assertThat(peer.events()).containsExactly("ended CONNECTION_RESET");
    }

    // ---- limits ----

    @Test
    void shouldRefuseWhatDoesNotFit() {
        ScriptedPeer.Options options = new ScriptedPeer.Options();
        options.sendQueueSize = 2;
        ScriptedPeer peer = new ScriptedPeer(options);
        peer.submit(WorkRequest.Kind.SEND, 1);
        peer.submit(WorkRequest.Kind.SEND, 1);
        WorkRequest third = peer.request(WorkRequest.Kind.SEND, 1);
        Refusal refusal = peer.queuePair().submit(third);
        assertThat(refusal).isNotNull();
        assertThat(refusal.status()).isEqualTo(Status.AGAIN);
        assertThat(refusal.message()).contains("sendQueueSize=2");
        peer.sent();
        peer.ack(101);
        peer.submit(third);
        WorkRequest long31 = peer.request(WorkRequest.Kind.WRITE, 1);
        long31.lengthBytes = (1L << 31) + 1;
        assertThat(Refusal.statusOf(peer.queuePair().submit(long31)))
                .isEqualTo(Status.INVALID_VALUE);
    }

    @Test
    void shouldNotSendAPacketThatThePeerCannotTellFromALaterOne() {
        assertThat(withWindow((1 << 23) - 1, 1)).isNotNull();
        assertThatThrownBy(() -> withWindow(1 << 23, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("windowPackets=8388608");
    }

    @Test
    void shouldSendNothingWhileTheSinkIsNotReady() {
        ScriptedPeer peer = new ScriptedPeer();
        peer.setSinkReady(false);
        peer.submit(WorkRequest.Kind.SEND, 600);
        assertThat(peer.sent()).isEmpty();
        assertThat(peer.adapter().isTransmitWaiting()).isTrue();
        peer.setSinkReady(true);
        assertThat(peer.sent()).hasSize(3);
        assertThat(peer.adapter().isTransmitWaiting()).isFalse();
    }
}
