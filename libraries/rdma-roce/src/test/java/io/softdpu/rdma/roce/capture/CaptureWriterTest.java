package io.softdpu.rdma.roce.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.file.GrowingFile;
import io.softdpu.rdma.roce.adapter.PacketWriter;
import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.testkit.LogCapture;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Captures as they are written. */
class CaptureWriterTest {
    private static final int RECORDS = 5000;

    @TempDir Path folder;

    private final byte[] bytes = new byte[64];
    private final MemorySegment packet = MemorySegment.ofArray(bytes);

    private int write(Gid from, Gid to, int psn) {
        OutgoingPacket made = new OutgoingPacket(1);
        made.begin(to, from.port(), Opcode.ACKNOWLEDGE, 0x4711, false, psn, 0);
        return new PacketWriter(from).write(made, packet, ByteBuffer.wrap(bytes), 0);
    }

    private static void add(
            CaptureWriter writer, Gid from, Gid to, MemorySegment packet, int size) {
        writer.add(
                from.high(),
                from.low(),
                from.port(),
                to.high(),
                to.low(),
                to.port(),
                0,
                packet,
                0,
                size);
    }

    private static Gid gid(String address) throws IOException {
        return Gid.ofAddress(InetAddress.getByName(address).getAddress());
    }

    @ParameterizedTest
    @CsvSource({"127.0.0.1, 127.0.0.2", "fd00::1, fd00::2"})
    void shouldWriteWhatTheReaderFinds(String source, String destination) throws IOException {
        Path file = folder.resolve("out.pcap");
        Gid from = gid(source);
        Gid to = gid(destination);
        try (CaptureWriter writer = CaptureWriter.create(file)) {
            for (int i = 0; i < RECORDS; i++) {
                add(writer, from, to, packet, write(from, to, i));
            }
        }
        try (InputStream input = Files.newInputStream(file)) {
            Analysis found = new Analysis(input);
            int psn = 0;
            while (found.next()) {
                assertThat(found.isIcrcRight()).isTrue();
                assertThat(found.packet().psn()).isEqualTo(psn++);
                assertThat(found.source()).isEqualTo(source);
                assertThat(found.destination()).isEqualTo(destination);
            }
            assertThat(found.packets()).isEqualTo(RECORDS);
        }
    }

    @Test
    void shouldHaveTheTimeAndRightChecksums() throws IOException {
        Path file = folder.resolve("out.pcap");
        Gid from = gid("127.0.0.1");
        Instant before = Instant.now();
        try (CaptureWriter writer = CaptureWriter.create(file)) {
            add(writer, from, from, packet, write(from, from, 1));
        }
        CaptureReader reader =
                new CaptureReader(new ByteArrayInputStream(Files.readAllBytes(file)));

        assertThat(reader.next()).isTrue();
        Instant time = Instant.ofEpochSecond(0, reader.timeNanos());
        assertThat(time).isBetween(before, Instant.now());
        ByteBuffer frame = ByteBuffer.wrap(reader.bytes(), 0, reader.frameBytes());
        assertThat(sum(frame, 0, 20, 0)).as("IPv4 header").isEqualTo(0xffff);
        int udpBytes = reader.frameBytes() - 20;
        assertThat(sum(frame, 12, reader.frameBytes(), 17 + udpBytes)).as("UDP").isEqualTo(0xffff);
    }

    private static int sum(ByteBuffer frame, int from, int to, int first) {
        int sum = first;
        for (int at = from; at < to; at += 2) {
            sum += Short.toUnsignedInt(frame.getShort(at));
        }
        while (sum > 0xffff) {
            sum = (sum & 0xffff) + (sum >>> 16);
        }
        return sum;
    }

    @Test
    void shouldBeWholeWhereItIsFlushed() throws IOException {
        Path file = folder.resolve("out.pcap");
        Gid from = gid("127.0.0.1");
        try (CaptureWriter writer = CaptureWriter.create(file)) {
            add(writer, from, from, packet, write(from, from, 1));
            assertThat(writer.written()).isZero();
            writer.flush();
            assertThat(writer.written()).isOne();
            try (InputStream input = Files.newInputStream(file)) {
                Analysis found = new Analysis(input);
                assertThat(found.next()).isTrue();
                assertThat(found.next()).isFalse();
            }
        }
    }

    @Test
    void shouldTakeNoPacketsAndMissNoneOnceItIsClosed() throws IOException {
        Gid from = gid("127.0.0.1");
        CaptureWriter writer = CaptureWriter.create(folder.resolve("out.pcap"));
        assertThat(writer.isClosed()).isFalse();
        writer.close();
        add(writer, from, from, packet, write(from, from, 1));

        assertThat(writer.isClosed()).isTrue();
        assertThat(writer.written()).isZero();
        assertThat(writer.lost()).isZero();
        assertThat(writer.failure()).isNull();
    }

    @Test
    void shouldReportAFileThatCannotBeWrittenAnyMore() throws IOException {
        Gid from = gid("127.0.0.1");
        Path full = folder.resolve("out.pcap");
        GrowingFile file = GrowingFile.create(full);
        file.close();
        try (LogCapture log = new LogCapture(CaptureWriter.class.getName());
                CaptureWriter writer = new CaptureWriter(full, file)) {
            add(writer, from, from, packet, write(from, from, 1));
            writer.flush();
            add(writer, from, from, packet, write(from, from, 2));

            assertThat(writer.written()).isZero();
            assertThat(writer.lost()).isEqualTo(2);
            assertThat(writer.failure()).hasMessageContaining("file is closed");
            assertThat(log.with("capture cannot be written any more: file=" + full)).hasSize(1);
        }
    }
}
