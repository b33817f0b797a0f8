package io.softdpu.rdma.roce.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.file.GrowingFile;
import io.softdpu.rdma.roce.adapter.PacketWriter;
import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.testkit.LogCapture;
import io.softdpu.testkit.Patience;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
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

    @Test
    void shouldHaveEachPacketOnceInTheOrderOfItsThreadWhileOthersFlush() throws Exception {
        Path file = folder.resolve("out.pcap");
        Gid from = gid("127.0.0.1");
        int writers = 3;
        List<Thread> threads = new ArrayList<>();
        try (CaptureWriter writer = CaptureWriter.create(file)) {
            for (int i = 0; i < writers; i++) {
                Gid to = gid("127.0.1." + i);
                threads.add(Thread.ofPlatform().start(() -> addAll(writer, from, to)));
            }
            while (threads.stream().anyMatch(Thread::isAlive)) {
                writer.flush();
            }
            for (Thread each : threads) {
                assertThat(each.join(Patience.LIMIT)).isTrue();
            }
            writer.flush();
            assertThat(writer.written()).isEqualTo((long) writers * RECORDS);
            assertThat(writer.hasPackets()).isFalse();
        }
        Map<String, Integer> next = new HashMap<>();
        try (InputStream input = Files.newInputStream(file)) {
            Analysis found = new Analysis(input);
            while (found.next()) {
                int psn = found.packet().psn();
                assertThat(next.getOrDefault(found.destination(), 0)).isEqualTo(psn);
                next.put(found.destination(), psn + 1);
            }
        }
        assertThat(next.values()).hasSize(writers).containsOnly(RECORDS);
    }

    private static void addAll(CaptureWriter writer, Gid from, Gid to) {
        byte[] own = new byte[64];
        MemorySegment memory = MemorySegment.ofArray(own);
        OutgoingPacket made = new OutgoingPacket(1);
        for (int i = 0; i < RECORDS; i++) {
            made.begin(to, from.port(), Opcode.ACKNOWLEDGE, 0x4711, false, i, 0);
            int size = new PacketWriter(from).write(made, memory, ByteBuffer.wrap(own), 0);
            add(writer, from, to, memory, size);
        }
    }

    @Test
    void shouldTellWhetherPacketsWaitWhileAnotherThreadHasItsLock() throws Exception {
        Gid from = gid("127.0.0.1");
        try (CaptureWriter writer = CaptureWriter.create(folder.resolve("out.pcap"))) {
            add(writer, from, from, packet, write(from, from, 1));
            CompletableFuture<Boolean> told = new CompletableFuture<>();
            synchronized (writer) {
                Thread thread = Thread.ofPlatform().start(() -> told.complete(writer.hasPackets()));
                assertThat(thread.join(Patience.LIMIT)).isTrue();
            }
            assertThat(told).isCompletedWithValue(true);
        }
    }
}
