package io.softdpu.rdma.roce.simulation;

import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.testkit.BuildFolder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** The last packets of a simulation, as a capture of raw IP for {@code softdpu packets}. */
final class PacketLog {
    private static final int MAX_PACKETS = 20_000;
    private static final int NANOS_MAGIC = 0xa1b23c4d;
    private static final int RAW_IP = 101;
    private static final int IPV4_BYTES = 20;
    private static final int IPV6_BYTES = 40;
    private static final int UDP_BYTES = 8;
    private static final long SECOND = 1_000_000_000;

    private record Entry(long nanos, Gid from, Gid to, int port, byte[] packet) {}

    private final Deque<Entry> entries = new ArrayDeque<>();

    /**
     * Keeps a packet.
     *
     * @param nanos since the beginning
     */
    void add(long nanos, Gid from, Gid to, int port, byte[] packet) {
        if (entries.size() == MAX_PACKETS) {
            entries.removeFirst();
        }
        entries.add(new Entry(nanos, from, to, port, packet));
    }

    /** The last packet; null if there is none. */
    byte @Nullable [] last() {
        Entry entry = entries.peekLast();
        return entry == null ? null : entry.packet();
    }

    /** Writes the capture into the build folder. */
    Path write(String name) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(
                little(24)
                        .putInt(NANOS_MAGIC)
                        .putShort((short) 2)
                        .putShort((short) 4)
                        .putLong(0)
                        .putInt(65535)
                        .putInt(RAW_IP)
                        .array());
        for (Entry each : entries) {
            byte[] frame = frame(each);
            bytes.writeBytes(
                    little(16)
                            .putInt((int) (each.nanos() / SECOND))
                            .putInt((int) (each.nanos() % SECOND))
                            .putInt(frame.length)
                            .putInt(frame.length)
                            .array());
            bytes.writeBytes(frame);
        }
        Path file = BuildFolder.resolve(name);
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Files.write(file, bytes.toByteArray());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write the capture: file=" + file, e);
        }
        return file;
    }

    private static ByteBuffer little(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static byte[] frame(Entry entry) {
        boolean ipv4 = entry.from().isIpv4();
        int udpBytes = UDP_BYTES + entry.packet().length;
        ByteBuffer frame = ByteBuffer.allocate((ipv4 ? IPV4_BYTES : IPV6_BYTES) + udpBytes);
        if (ipv4) {
            frame.putShort((short) 0x4500)
                    .putShort((short) (IPV4_BYTES + udpBytes))
                    .putInt(0x4000) // identification 0, DF
                    .putInt(0x4011_0000); // time to live, UDP
        } else {
            frame.putInt(0x6000_0000).putShort((short) udpBytes).putShort((short) 0x1140);
        }
        return frame.put(entry.from().addressBytes())
                .put(entry.to().addressBytes())
                .putShort((short) entry.port())
                .putShort((short) Headers.UDP_PORT)
                .putShort((short) udpBytes)
                .putShort((short) 0)
                .put(entry.packet())
                .array();
    }
}
