package io.softdpu.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.softdpu.rdma.roce.capture.Analysis;
import io.softdpu.rdma.roce.wire.ExtensionHeader;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Icrc;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Packets of RoCE v2: each that is taken is written again by its fields. */
@StartsProcesses
class RocePacketFuzzTest {
    private static final Path CAPTURES =
            Path.of("../../libraries/rdma-roce/src/test/resources/io/softdpu/rdma/roce/linux-6.1");

    @FuzzTest
    void bytes(byte[] datagram) {
        Packet packet = new Packet();
        MemorySegment memory = MemorySegment.ofArray(datagram);
        if (packet.wrap(memory, 0, datagram.length) != null) {
            return; // refused
        }
        Refused.requireSame("packet", withoutReserved(packet, datagram), writtenAgain(packet));
        Icrc icrc = Icrc.ipv4();
        icrc.of(packet, ByteBuffer.wrap(datagram));
        int identification = icrc.identification(packet.icrc());
        if (identification >= 0) {
            icrc.setIdentification(identification, true);
            if (icrc.of(packet, ByteBuffer.wrap(datagram)) != packet.icrc()) {
                throw new AssertionError("not its identification: found=" + identification);
            }
        }
    }

    /** Without a byte of difference, since the driver sends reserved bits and padding as 0. */
    @Test
    void shouldWriteEachPacketOfTheDriverAgain() throws IOException {
        int packets = 0;
        try (Stream<Path> files = Files.list(CAPTURES)) {
            for (Path file : files.toList()) {
                try (InputStream input = Files.newInputStream(file)) {
                    Analysis capture = new Analysis(input);
                    while (capture.next()) {
                        byte[] datagram = bytesOf(capture.packet());
                        Packet packet = new Packet();
                        assertThat(packet.wrap(MemorySegment.ofArray(datagram), 0, datagram.length))
                                .isNull();
                        assertThat(writtenAgain(packet))
                                .as("%s, packet %d", file, capture.number())
                                .isEqualTo(datagram);
                        packets++;
                    }
                }
            }
        }
        assertThat(packets).isEqualTo(753);
    }

    private static byte[] bytesOf(Packet packet) {
        return packet.memory().asSlice(packet.at(), packet.bytes()).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Reserved and congestion bits, and padding, are ignored, and written as 0. */
    private static byte[] withoutReserved(Packet packet, byte[] datagram) {
        byte[] clean = datagram.clone();
        clean[4] = 0;
        clean[8] &= (byte) 0x80;
        if (packet.opcode().has(ExtensionHeader.DETH)) {
            clean[packet.opcode().offset(ExtensionHeader.DETH) + 4] = 0;
        }
        int behindPayload = (int) packet.payloadAt() + packet.payloadBytes();
        Arrays.fill(clean, behindPayload, behindPayload + packet.paddingBytes(), (byte) 0);
        if (packet.opcode() == Opcode.CONGESTION_NOTIFICATION) {
            Arrays.fill(clean, Headers.BTH_BYTES, behindPayload, (byte) 0);
        }
        return clean;
    }

    private static byte[] writtenAgain(Packet packet) {
        byte[] again = new byte[packet.bytes()];
        MemorySegment memory = MemorySegment.ofArray(again);
        Headers.writeBth(
                memory,
                0,
                packet.opcode(),
                packet.flags(),
                packet.paddingBytes(),
                packet.queuePair(),
                packet.asksAcknowledgement(),
                packet.psn());
        for (ExtensionHeader header : ExtensionHeader.values()) {
            if (packet.opcode().has(header)) {
                write(packet, header, memory, packet.opcode().offset(header));
            }
        }
        MemorySegment.copy(
                packet.memory(),
                packet.payloadAt(),
                memory,
                packet.payloadAt(),
                packet.payloadBytes());
        Headers.writeIcrc(memory, packet.bytes() - Headers.ICRC_BYTES, packet.icrc());
        return again;
    }

    private static void write(
            Packet packet, ExtensionHeader header, MemorySegment memory, long at) {
        switch (header) {
            case DETH -> Headers.writeDeth(memory, at, packet.queueKey(), packet.sourceQueuePair());
            case RETH ->
                    Headers.writeReth(
                            memory, at, packet.address(), packet.key(), packet.lengthBytes());
            case ATOMIC_ETH ->
                    Headers.writeAtomicEth(
                            memory,
                            at,
                            packet.address(),
                            packet.key(),
                            packet.swapOrAdd(),
                            packet.compare());
            case AETH -> Headers.writeAeth(memory, at, packet.syndrome(), packet.msn());
            case ATOMIC_ACK_ETH -> Headers.writeAtomicAckEth(memory, at, packet.valueBefore());
            case IMMEDIATE -> Headers.writeWord(memory, at, packet.immediate());
            case INVALIDATE -> Headers.writeWord(memory, at, packet.invalidatedKey());
        }
    }
}
