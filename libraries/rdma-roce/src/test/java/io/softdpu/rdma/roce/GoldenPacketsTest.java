package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.rdma.roce.capture.Analysis;
import io.softdpu.rdma.roce.wire.Addresses;
import io.softdpu.rdma.roce.wire.CmCodec;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Icrc;
import io.softdpu.rdma.roce.wire.IpAddressing;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.roce.wire.ServiceId;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Packets of the Linux driver: each is read and checked, and connection messages are encoded to the
 * same bytes. The fuzz target of packets writes each of them again.
 */
class GoldenPacketsTest {
    private static final int UDP_BYTES = 8;
    private static final int IPV4_BYTES = 20;
    private static final int IPV6_BYTES = 40;
    private static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    static List<String> files() {
        return Captures.names();
    }

    @Test
    void shouldTakeEachPacketOfTheDriver() {
        assertThat(files()).hasSize(69);
        long packets = 0;
        Map<Opcode, Integer> opcodes = new EnumMap<>(Opcode.class);
        for (String file : files()) {
            Analysis analysis =
                    Captures.read(
                            file,
                            each -> {
                                assertThat(each.fault()).as(file).isNull();
                                assertThat(each.isIcrcRight()).as(file).isTrue();
                                assertThat(each.packet().paddingBytes())
                                        .as(file)
                                        .isEqualTo(
                                                Headers.paddingBytes(each.packet().payloadBytes()));
                                opcodes.merge(each.packet().opcode(), 1, Integer::sum);
                            });
            packets += analysis.packets();
            assertThat(analysis.badIcrc() + analysis.malformed() + analysis.otherFrames())
                    .as(file)
                    .isZero();
        }
        assertThat(packets).isEqualTo(753);
        assertThat(opcodes)
                .containsEntry(Opcode.DATAGRAM, 10)
                .containsEntry(Opcode.COMPARE_SWAP, 4)
                .hasSize(22);
    }

    /** By the IP and UDP headers in front of the packet, with their identification. */
    private static Icrc icrcOf(Packet packet) {
        Icrc icrc = icrcOfAddresses(packet);
        icrc.setIdentification(identification(packet), true);
        return icrc;
    }

    private static Icrc icrcOfAddresses(Packet packet) {
        int size = isIpv4(packet) ? 4 : 16;
        long udp = packet.at() - UDP_BYTES;
        Icrc icrc = isIpv4(packet) ? Icrc.ipv4() : Icrc.ipv6();
        MemorySegment addresses = packet.memory().asSlice(udp - 2 * size, 2 * size);
        icrc.setAddresses(
                addresses.asSlice(0, size).toArray(ValueLayout.JAVA_BYTE),
                addresses.asSlice(size, size).toArray(ValueLayout.JAVA_BYTE));
        icrc.setSourcePort(packet.memory().get(U16, udp));
        return icrc;
    }

    /** The captures are of Ethernet without tags. */
    private static boolean isIpv4(Packet packet) {
        return packet.at() == 14 + IPV4_BYTES + UDP_BYTES;
    }

    private static int identification(Packet packet) {
        return isIpv4(packet)
                ? Short.toUnsignedInt(
                        packet.memory().get(U16, packet.at() - UDP_BYTES - IPV4_BYTES + 4))
                : 0;
    }

    @ParameterizedTest
    @MethodSource("files")
    void shouldSolveForTheIdentificationThatASocketHides(String file) {
        Captures.read(
                file,
                each -> {
                    Packet packet = each.packet();
                    Icrc icrc = icrcOfAddresses(packet);
                    ByteBuffer view = packet.memory().asByteBuffer().order(ByteOrder.BIG_ENDIAN);
                    boolean right = icrc.of(packet, view) == packet.icrc();
                    assertThat(right).isEqualTo(!isIpv4(packet));
                    assertThat(icrc.identification(packet.icrc()))
                            .as("%s, packet %d", file, each.number())
                            .isEqualTo(identification(packet));
                    icrc.setIdentification(identification(packet) ^ 0x8001, true);
                    icrc.of(packet, view);
                    assertThat(icrc.identification(packet.icrc()))
                            .as("from another one")
                            .isEqualTo(identification(packet));
                });
    }

    @ParameterizedTest
    @MethodSource("files")
    void shouldAcceptNoChangedByteWithTheExpectedIdentification(String file) {
        Captures.read(
                file,
                each -> {
                    Packet packet = each.packet();
                    ByteBuffer view = packet.memory().asByteBuffer();
                    int at = (int) packet.at() + Headers.BTH_BYTES - 1; // of the PSN
                    for (int bit = 0; bit < Byte.SIZE; bit++) {
                        view.clear();
                        view.put(at, (byte) (view.get(at) ^ 1 << bit));
                        Icrc icrc = icrcOf(packet);
                        icrc.of(packet, view);
                        assertThat(icrc.identification(packet.icrc()))
                                .isNotEqualTo(identification(packet));
                        view.put(at, (byte) (view.get(at) ^ 1 << bit));
                    }
                });
    }

    @ParameterizedTest
    @MethodSource("files")
    void shouldDecodeEachConnectionMessageAndEncodeItToTheSameBytes(String file) {
        Captures.read(
                file,
                each -> {
                    if (each.packet().opcode() == Opcode.DATAGRAM) {
                        CmMessage message = each.message();
                        assertThat(message).as("%s, packet %d", file, each.number()).isNotNull();
                        assertThat(CmCodec.encode(message))
                                .isEqualTo(
                                        each.packet()
                                                .memory()
                                                .asSlice(
                                                        each.packet().payloadAt(),
                                                        CmCodec.MESSAGE_BYTES)
                                                .toArray(ValueLayout.JAVA_BYTE));
                    }
                });
    }

    @ParameterizedTest
    @CsvSource({
        "v4-rping-rdmacm.pcap, 10.77.0.2, 10.77.0.3",
        "v6-rping-rdmacm.pcap, fd77::2, fd77::3"
    })
    void shouldReadTheConnectionOfAProgramOfRdmaCm(String file, String one, String other) {
        List<CmMessage> messages = new ArrayList<>();
        Analysis analysis =
                Captures.read(
                        file,
                        each -> {
                            if (each.message() != null) {
                                messages.add(each.message());
                            }
                        });
        assertThat(messages)
                .extracting(each -> each.attribute().name())
                .containsExactly("REQ", "REP", "RTU", "DREQ", "DREP");
        CmMessage.Req req = (CmMessage.Req) messages.get(0);
        CmMessage.Rep rep = (CmMessage.Rep) messages.get(1);
        assertThat(ServiceId.isPort(req.serviceId())).isTrue();
        assertThat(ServiceId.port(req.serviceId())).isEqualTo(7174);
        IpAddressing addresses = IpAddressing.decode(req.privateData());
        assertThat(
                        List.of(
                                Addresses.text(addresses.source()),
                                Addresses.text(addresses.destination())))
                .containsExactlyInAnyOrder(one, other);
        assertThat(addresses.encode(IpAddressing.programData(req.privateData())))
                .isEqualTo(req.privateData());
        assertThat(rep.remoteId()).isEqualTo(req.localId());
        assertThat(((CmMessage.Dreq) messages.get(3)).remoteQueuePair())
                .isIn(req.queuePair(), rep.queuePair());
        assertThat(analysis.flows())
                .as("their packets begin with the numbers of REQ and REP")
                .hasSize(2)
                .allMatch(flow -> flow.gaps() + flow.retransmissions() + flow.duplicates() == 0);
    }
}
