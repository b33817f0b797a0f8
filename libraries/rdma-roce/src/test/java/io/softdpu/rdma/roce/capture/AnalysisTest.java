package io.softdpu.rdma.roce.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.rdma.roce.Captures;
import io.softdpu.rdma.roce.wire.Addresses;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Icrc;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.roce.wire.Syndrome;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AnalysisTest {
    private static final byte[] A = {10, 0, 0, 1};
    private static final byte[] B = {10, 0, 0, 2};

    private final CaptureFile file = new CaptureFile(ByteOrder.BIG_ENDIAN, 0xa1b2c3d4, 101);
    private final List<String> seen = new ArrayList<>();

    private Analysis read() {
        return Captures.read(
                file.open(),
                each ->
                        seen.add(
                                each.fault() != null
                                        ? each.fault()
                                        : !each.isIcrcRight()
                                                ? "bad"
                                                : each.note() == null ? "" : each.note().name()));
    }

    /** A packet over IPv4 with a right ICRC; its payload is zero bytes. */
    private static byte[] ip(
            byte[] source, byte[] destination, Opcode opcode, int qp, int psn, int payloadBytes) {
        int size = opcode.headerBytes() + payloadBytes + Headers.ICRC_BYTES;
        byte[] bytes = new byte[28 + size];
        MemorySegment memory = MemorySegment.ofArray(bytes);
        ByteBuffer.wrap(bytes)
                .putInt(0x4500_0000 | bytes.length)
                .putInt(0x4000)
                .putInt(0x4011_0000)
                .put(source)
                .put(destination)
                .putInt(50_000 << 16 | Headers.UDP_PORT)
                .putInt((8 + size) << 16);
        Headers.writeBth(memory, 28, opcode, 0, 0, qp, false, psn);
        return signed(bytes);
    }

    private static byte[] signed(byte[] bytes) {
        MemorySegment memory = MemorySegment.ofArray(bytes);
        Packet packet = new Packet();
        if (packet.wrap(memory, 28, bytes.length - 28) == null) {
            Icrc icrc = Icrc.ipv4();
            icrc.setAddresses(Arrays.copyOfRange(bytes, 12, 16), Arrays.copyOfRange(bytes, 16, 20));
            icrc.setSourcePort(50_000);
            int value = icrc.of(packet, ByteBuffer.wrap(bytes));
            Headers.writeIcrc(memory, bytes.length - Headers.ICRC_BYTES, value);
        }
        return bytes;
    }

    private void add(byte[] frame) {
        file.add(0, 0, frame);
    }

    private void request(Opcode opcode, int psn, int payloadBytes) {
        add(ip(A, B, opcode, 0x22, psn, payloadBytes));
    }

    private void read(int psn, int lengthBytes) {
        byte[] bytes = ip(A, B, Opcode.READ_REQUEST, 0x22, psn, 0);
        Headers.writeReth(MemorySegment.ofArray(bytes), 28 + 12, 0, 0, lengthBytes);
        add(signed(bytes));
    }

    private void answer(Opcode opcode, int psn, int syndrome) {
        byte[] bytes = ip(B, A, opcode, 0x11, psn, 0);
        if (opcode != Opcode.READ_RESPONSE_MIDDLE) {
            Headers.writeAeth(MemorySegment.ofArray(bytes), 28 + 12, syndrome, 0);
        }
        add(signed(bytes));
    }

    @ParameterizedTest
    @CsvSource({
        "v4-mix.pcap, 0, 0, 0, 0, 0",
        "v6-mix.pcap, 0, 0, 0, 0, 0",
        "v4-nak-rnr.pcap, 5, 0, 0, 0, 5",
        "v6-cas.pcap, 0, 0, 0, 0, 0",
        "v4-read-mtu4096-multi.pcap, 0, 0, 0, 0, 0"
    })
    void shouldSayWhatWasRepeatedInACaptureOfTheDriver(
            String name, long retransmissions, long duplicates, long gaps, long naks, long rnr) {
        Analysis analysis = Captures.read(name, each -> {});
        assertThat(analysis.flows()).hasSize(2);
        Flow one = analysis.flows().getFirst();
        Flow other = analysis.flows().getLast();
        assertThat(one.reverse()).isSameAs(other);
        assertThat(other.reverse()).isSameAs(one);
        assertThat(one.packets() + other.packets()).isEqualTo(analysis.packets());
        assertThat(one.retransmissions() + other.retransmissions()).isEqualTo(retransmissions);
        assertThat(one.duplicates() + other.duplicates()).isEqualTo(duplicates);
        assertThat(one.gaps() + other.gaps()).isEqualTo(gaps);
        assertThat(one.negativeAcknowledgements() + other.negativeAcknowledgements())
                .isEqualTo(naks);
        assertThat(one.notReady() + other.notReady()).isEqualTo(rnr);
    }

    @Test
    void shouldNoteARepeatedRequestAndAGap() {
        request(Opcode.SEND_ONLY, 0xff_ffff, 64);
        request(Opcode.SEND_ONLY, 0, 64);
        request(Opcode.SEND_ONLY, 2, 64);
        request(Opcode.SEND_ONLY, 1, 64);
        request(Opcode.SEND_ONLY, 2, 64);
        request(Opcode.SEND_ONLY, 3, 64);
        Analysis analysis = read();
        assertThat(seen).containsExactly("", "", "GAP", "RETRANSMISSION", "RETRANSMISSION", "");
        Flow flow = analysis.flows().getFirst();
        assertThat(flow.from()).isEqualTo("10.0.0.1");
        assertThat(flow.to()).isEqualTo("10.0.0.2");
        assertThat(flow.queuePair()).isEqualTo(0x22);
        assertThat(flow.payloadBytes()).isEqualTo(6 * 64);
        assertThat(flow.gaps()).isEqualTo(1);
        assertThat(flow.retransmissions()).isEqualTo(2);
        assertThat(flow.reverse()).as("no answer").isNull();
    }

    @Test
    void shouldNoteAnAnswerThatComesTwiceButNoNegativeOne() {
        request(Opcode.SEND_ONLY, 5, 64);
        answer(Opcode.ACKNOWLEDGE, 5, Syndrome.receiverNotReady(1));
        answer(Opcode.ACKNOWLEDGE, 5, Syndrome.receiverNotReady(1));
        answer(Opcode.ACKNOWLEDGE, 5, Syndrome.ACKNOWLEDGED);
        answer(Opcode.ACKNOWLEDGE, 5, Syndrome.ACKNOWLEDGED);
        answer(Opcode.ACKNOWLEDGE, 6, Syndrome.negative(Syndrome.SEQUENCE_ERROR));
        answer(Opcode.ACKNOWLEDGE, 9, Syndrome.ACKNOWLEDGED);
        Analysis analysis = read();
        assertThat(seen).containsExactly("", "", "", "", "DUPLICATE", "", "");
        Flow answers = analysis.flows().getLast();
        assertThat(answers.reverse()).isSameAs(analysis.flows().getFirst());
        assertThat(answers.notReady()).isEqualTo(2);
        assertThat(answers.negativeAcknowledgements()).isEqualTo(1);
        assertThat(answers.duplicates()).isEqualTo(1);
    }

    @Test
    void shouldReserveANumberPerPacketOfARead() {
        request(Opcode.SEND_FIRST, 10, 1024); // shows the MTU
        request(Opcode.SEND_LAST, 11, 4);
        read(12, 3000);
        request(Opcode.SEND_ONLY, 15, 64);
        read(16, 0);
        request(Opcode.SEND_ONLY, 18, 64);
        read(19, 3000);
        request(Opcode.SEND_ONLY, 21, 64);
        read();
        assertThat(seen).containsExactly("", "", "", "", "", "GAP", "", "RETRANSMISSION");
    }

    @Test
    void shouldTakeEachNumberThatSomeMtuGivesAfterARead() {
        read(0, 4096);
        request(Opcode.SEND_ONLY, 1, 64);
        read(2, 4096);
        request(Opcode.SEND_ONLY, 18, 64);
        read(19, 4096);
        request(Opcode.SEND_ONLY, 36, 64);
        read();
        assertThat(seen).containsExactly("", "", "", "", "", "GAP");
    }

    @Test
    void shouldNoteAGapInTheDataOfARead() {
        read(0, 100_000);
        answer(Opcode.READ_RESPONSE_FIRST, 0, Syndrome.ACKNOWLEDGED);
        answer(Opcode.READ_RESPONSE_MIDDLE, 1, 0);
        answer(Opcode.READ_RESPONSE_MIDDLE, 3, 0);
        answer(Opcode.READ_RESPONSE_MIDDLE, 2, 0);
        answer(Opcode.READ_RESPONSE_LAST, 4, Syndrome.ACKNOWLEDGED);
        answer(Opcode.READ_RESPONSE_ONLY, 9, Syndrome.ACKNOWLEDGED);
        read();
        assertThat(seen).containsExactly("", "", "", "GAP", "DUPLICATE", "", "");
    }

    @Test
    void shouldFindTheDirectionsOfSeveralConnectionsByTheirNumbers() {
        add(ip(A, B, Opcode.SEND_ONLY, 0x21, 100, 0));
        add(ip(A, B, Opcode.SEND_ONLY, 0x22, 900, 0));
        add(ip(B, A, Opcode.ACKNOWLEDGE, 0x12, 900, 0));
        add(ip(B, A, Opcode.ACKNOWLEDGE, 0x11, 100, 0));
        List<Flow> flows = read().flows();
        assertThat(flows.get(0).reverse()).isSameAs(flows.get(3));
        assertThat(flows.get(1).reverse()).isSameAs(flows.get(2));
    }

    @Test
    void shouldBeginOneConnectionForMessagesThatAreRepeated() throws IOException {
        byte[] whole = Files.readAllBytes(Captures.file("v4-rping-rdmacm.pcap"));
        CaptureReader reader = new CaptureReader(new ByteArrayInputStream(whole));
        CaptureFile repeated = CaptureFile.ethernet();
        List<byte[]> frames = new ArrayList<>();
        while (reader.next()) {
            frames.add(Arrays.copyOf(reader.bytes(), reader.frameBytes()));
        }
        frames.addAll(0, frames.subList(0, 2)); // REQ and REP
        frames.forEach(frame -> repeated.add(0, 0, frame));
        assertThat(Captures.read(repeated.open(), each -> {}).flows())
                .hasSize(2)
                .allMatch(flow -> flow.packets() > 0);
    }

    @Test
    void shouldLeaveADirectionAloneWhereTwoMayBeIts() {
        add(ip(A, B, Opcode.SEND_ONLY, 0x21, 100, 0));
        add(ip(A, B, Opcode.SEND_ONLY, 0x22, 100, 0));
        add(ip(B, A, Opcode.ACKNOWLEDGE, 0x12, 100, 0));
        assertThat(read().flows()).hasSize(3).allMatch(flow -> flow.reverse() == null);
    }

    @Test
    void shouldNotFollowAPacketWithAWrongIcrc() {
        request(Opcode.SEND_ONLY, 1, 64);
        byte[] changed = ip(A, B, Opcode.SEND_ONLY, 0x23, 9, 64);
        changed[60] ^= 1;
        add(changed);
        Analysis analysis = read();
        assertThat(seen).containsExactly("", "bad");
        assertThat(analysis.badIcrc()).isEqualTo(1);
        assertThat(analysis.malformed()).isZero();
        assertThat(analysis.flows()).hasSize(1);
    }

    @Test
    void shouldSayWhyADatagramIsNoPacket() {
        byte[] good = ip(A, B, Opcode.SEND_ONLY, 1, 2, 64);
        byte[] version = good.clone();
        version[29] = 1;
        byte[] fragment = good.clone();
        fragment[6] = 0x20;
        byte[] later = good.clone();
        later[7] = 1; // offset of a fragment
        byte[] options = new byte[good.length + 4];
        System.arraycopy(good, 0, options, 0, 20);
        System.arraycopy(good, 20, options, 24, good.length - 20);
        options[0] = 0x46;
        options[3] += 4;
        byte[] noHeader = good.clone();
        noHeader[0] = 0x40; // a header of 0 bytes, whose words could be those of UDP
        noHeader[2] = (byte) (Headers.UDP_PORT >>> 8);
        noHeader[3] = (byte) Headers.UDP_PORT;
        byte[] longer = good.clone();
        longer[25] += 4; // UDP length
        byte[] shorter = good.clone();
        shorter[25] = 7;
        byte[] tcp = good.clone();
        tcp[9] = 6;
        byte[] port = good.clone();
        port[23]++;
        for (byte[] each :
                List.of(
                        version,
                        fragment,
                        later,
                        options,
                        noHeader,
                        longer,
                        shorter,
                        tcp,
                        port,
                        new byte[0])) {
            add(each);
        }
        file.add(0, 0, good, good.length - 1);
        file.add(0, 0, good, 27);
        add(Arrays.copyOf(good, good.length + 6)); // filled up by the link
        Analysis analysis = read();
        assertThat(seen).containsExactly("version", "fragment", "options", "cut", "cut", "cut", "");
        assertThat(analysis.malformed()).isEqualTo(6);
        assertThat(analysis.packets()).isEqualTo(7);
        assertThat(analysis.otherFrames()).isEqualTo(6);
    }

    @Test
    void shouldTakePacketsBehindTagsOfVirtualLans() {
        byte[] packet = ip(A, B, Opcode.SEND_ONLY, 1, 2, 64);
        CaptureFile tagged = CaptureFile.ethernet();
        for (int[] types : new int[][] {{0x0800}, {0x8100, 0x0800}, {0x88a8, 0x8100, 0x0800}}) {
            ByteBuffer frame = ByteBuffer.allocate(12 + 4 * types.length - 2 + packet.length);
            frame.position(12);
            for (int i = 0; i < types.length; i++) {
                frame.putShort((short) types[i]);
                if (i < types.length - 1) {
                    frame.putShort((short) 7);
                }
            }
            tagged.add(0, 0, frame.put(packet).array());
        }
        tagged.add(0, 0, new byte[14]).add(0, 0, new byte[13]);
        Analysis analysis =
                Captures.read(tagged.open(), each -> assertThat(each.isIcrcRight()).isTrue());
        assertThat(analysis.packets()).isEqualTo(3);
        assertThat(analysis.otherFrames()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({
        "v4-mix.pcap, 113, 16, 14", "v6-mix.pcap, 113, 16, 14",
        "v4-mix.pcap, 276, 20, 0", "v6-mix.pcap, 276, 20, 0"
    })
    void shouldTakePacketsBehindTheHeadersOfACaptureOnAllInterfaces(
            String name, int linkType, int headerBytes, int typeAt) throws IOException {
        byte[] whole = Files.readAllBytes(Captures.file(name));
        CaptureReader ethernet = new CaptureReader(new ByteArrayInputStream(whole));
        CaptureFile cooked = new CaptureFile(ByteOrder.LITTLE_ENDIAN, 0xa1b2c3d4, linkType);
        while (ethernet.next()) {
            byte[] frame = Arrays.copyOf(ethernet.bytes(), ethernet.frameBytes());
            byte[] header = new byte[headerBytes];
            Arrays.fill(header, (byte) 0x81);
            System.arraycopy(frame, 12, header, typeAt, 2);
            cooked.add(0, 0, joined(header, Arrays.copyOfRange(frame, 14, frame.length)));
            header[typeAt] = (byte) 0x81; // a tag
            header[typeAt + 1] = 0;
            byte[] tagged = joined(new byte[2], Arrays.copyOfRange(frame, 12, frame.length));
            cooked.add(0, 0, joined(header, tagged));
            cooked.add(0, 0, joined(header, tagged), headerBytes + 3);
            cooked.add(0, 0, header, headerBytes - 1);
        }
        Analysis analysis =
                Captures.read(cooked.open(), each -> assertThat(each.isIcrcRight()).isTrue());
        assertThat(analysis.packets()).isEqualTo(2 * ethernet.number()).isPositive();
        assertThat(analysis.otherFrames()).isEqualTo(2 * ethernet.number());
    }

    private static byte[] joined(byte[] one, byte[] other) {
        return ByteBuffer.allocate(one.length + other.length).put(one).put(other).array();
    }

    @Test
    void shouldCheckTheIcrcWithTheIdentificationOfTheHeader() {
        byte[] packet = ip(A, B, Opcode.SEND_ONLY, 1, 2, 64);
        packet[5] = 1;
        add(packet);
        byte[] fragmentable = ip(A, B, Opcode.SEND_ONLY, 1, 2, 64);
        fragmentable[6] = 0;
        add(fragmentable);
        byte[] routed = ip(A, B, Opcode.SEND_ONLY, 1, 2, 64);
        routed[1] = 3; // congestion of IP
        routed[8]--; // time to live
        routed[11]++; // checksum
        routed[27]++; // checksum of UDP
        add(routed);
        read();
        assertThat(seen).containsExactly("bad", "bad", "");
    }

    @Test
    void shouldKeepALimitedNumberOfConnections() {
        for (int qp = 0; qp < Flows.MAX_FLOWS + 10; qp++) {
            add(ip(A, B, Opcode.SEND_ONLY, qp, 1, 0));
        }
        Analysis analysis = read();
        assertThat(analysis.flows()).hasSize(Flows.MAX_FLOWS);
        assertThat(analysis.packets()).isEqualTo(Flows.MAX_FLOWS + 10);
    }

    /** A capture of any bytes is read to its end, or refused. */
    @Test
    @Tag(Soak.TAG)
    void shouldThrowNothingButARefusalForAnyCapture(SeededRandom random) throws IOException {
        int rounds = Soak.count(20, 100, 2_000);
        long begin = System.nanoTime();
        long packets = 0;
        for (String name : List.of("v4-rping-rdmacm.pcap", "v6-loss-ack-retransmit.pcap")) {
            byte[] whole = Files.readAllBytes(Captures.file(name));
            for (int round = 0; round < rounds; round++) {
                byte[] changed = whole.clone();
                for (int i = random.nextInt(200); i > 0; i--) {
                    changed[random.nextInt(24, changed.length)] = (byte) random.nextInt();
                }
                try {
                    packets +=
                            Captures.read(new ByteArrayInputStream(changed), each -> {}).packets();
                } catch (DpuException e) {
                    assertThat(e.status()).isEqualTo(Status.INVALID_VALUE);
                }
            }
        }
        Soak.report(
                "roce-captures",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                "captures=" + 2 * rounds + ", packets=" + packets);
    }

    @ParameterizedTest
    @CsvSource({
        "0a000001, 10.0.0.1",
        "ffffffff, 255.255.255.255",
        "fd780000000000000000000000000001, fd78::1",
        "00000000000000000000000000000000, ::",
        "00000000000000000000000000000001, ::1",
        "20010db8000000000001000000000001, 2001:db8::1:0:0:1",
        "20010db8000000010001000100010001, 2001:db8:0:1:1:1:1:1",
        "fe800000000000000000000000000000, fe80::"
    })
    void shouldWriteAddressesInTheirShortForm(String hex, String text) {
        assertThat(Addresses.text(HexFormat.of().parseHex(hex))).isEqualTo(text);
    }
}
