package io.softdpu.rdma.roce.capture;

import io.softdpu.linux.file.GrowingFile;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Reason;
import io.softdpu.rdma.roce.wire.Gid;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Writer of packets to a pcap file, with the headers of IP and UDP, which a socket does not show,
 * made for them. Records wait in a buffer until it is full, or {@link #flush}; while that is
 * written, a second one takes further ones. Once the file cannot be written, packets are counted
 * alone: {@link #failure} says why.
 *
 * <p>Any thread. Allocates nothing per packet.
 */
public final class CaptureWriter implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(CaptureWriter.class.getName());

    private static final int BUFFER_BYTES = 256 << 10;
    private static final int IPV4_BYTES = 20;
    private static final int IPV6_BYTES = 40;
    private static final int UDP_BYTES = 8;
    private static final int UDP = 17;
    private static final int DONT_FRAGMENT = 0x4000;
    private static final int HOPS = 64;
    private static final int LOW_16 = 0xffff;

    private static final ValueLayout.OfByte U8 = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final Path path;
    private final GrowingFile file;
    private final long beginEpochNanos;
    private final long beginNanos;

    /** Held while a buffer is written, and taken before the lock of this writer. */
    private final Object writing = new Object();

    private MemorySegment buffer = Arena.ofAuto().allocate(BUFFER_BYTES);

    /** Empty, unless it is being written. */
    private MemorySegment other = Arena.ofAuto().allocate(BUFFER_BYTES);

    private int filled;

    /** Packets in the buffer; changed with the lock. */
    private volatile long waiting;

    private long written;
    private long lost;
    private @Nullable IOException failure;
    private volatile boolean closed;

    /** A writer of a file that is empty, and its to close. */
    public CaptureWriter(Path path, GrowingFile file) {
        this.path = path;
        this.file = file;
        Instant now = Instant.now();
        beginNanos = System.nanoTime();
        beginEpochNanos = now.getEpochSecond() * CaptureReader.SECOND_NANOS + now.getNano();
        addHeader();
    }

    /**
     * Creates a file, or empties a regular one, and writes its header.
     *
     * @throws IOException if it cannot be written
     */
    public static CaptureWriter create(Path path) throws IOException {
        CaptureWriter made = new CaptureWriter(path, GrowingFile.create(path));
        made.flush();
        IOException failed = made.failure();
        if (failed != null) {
            made.close();
            throw failed;
        }
        return made;
    }

    private void addHeader() {
        buffer.set(U32, 0, CaptureReader.NANOSECONDS);
        buffer.set(U16, 4, (short) CaptureReader.VERSION);
        buffer.set(U16, 6, (short) CaptureReader.MINOR_VERSION);
        buffer.set(U64, 8, 0);
        buffer.set(U32, 16, CaptureReader.MAX_FRAME_BYTES);
        buffer.set(U32, 20, LinkType.RAW_IP_CODE);
        filled = CaptureReader.HEADER_BYTES;
    }

    /**
     * Adds a packet; does nothing once it is closed. Waits for the file only if the buffer is full.
     *
     * @param sourceHigh address of the sender, as in {@link Gid}
     * @param destinationHigh address of the receiver, of the same IP version
     * @param identification of the IPv4 header
     * @param memory has the packet, the payload of its UDP datagram
     * @param bytes its size, up to 64 KiB less the headers
     */
    public void add(
            long sourceHigh,
            long sourceLow,
            int sourcePort,
            long destinationHigh,
            long destinationLow,
            int destinationPort,
            int identification,
            MemorySegment memory,
            long at,
            int bytes) {
        while (!addIfRoom(
                sourceHigh,
                sourceLow,
                sourcePort,
                destinationHigh,
                destinationLow,
                destinationPort,
                identification,
                memory,
                at,
                bytes)) {
            flush();
        }
    }

    private synchronized boolean addIfRoom(
            long sourceHigh,
            long sourceLow,
            int sourcePort,
            long destinationHigh,
            long destinationLow,
            int destinationPort,
            int identification,
            MemorySegment memory,
            long at,
            int bytes) {
        if (closed) {
            return true;
        }
        if (failure != null) {
            lost++;
            return true;
        }
        boolean ipv4 = Gid.isIpv4(sourceHigh, sourceLow);
        int ipBytes = ipv4 ? IPV4_BYTES : IPV6_BYTES;
        int udpBytes = UDP_BYTES + bytes;
        int frameBytes = ipBytes + udpBytes;
        if (BUFFER_BYTES - filled < CaptureReader.RECORD_HEADER_BYTES + frameBytes) {
            return false;
        }
        addRecord(frameBytes);
        long ip = filled;
        if (ipv4) {
            addIpv4(frameBytes, identification, (int) sourceLow, (int) destinationLow);
        } else {
            buffer.set(U32, ip, 6 << 28);
            buffer.set(U32, ip + 4, udpBytes << 16 | UDP << 8 | HOPS);
            buffer.set(U64, ip + 8, sourceHigh);
            buffer.set(U64, ip + 16, sourceLow);
            buffer.set(U64, ip + 24, destinationHigh);
            buffer.set(U64, ip + 32, destinationLow);
        }
        long udp = ip + ipBytes;
        buffer.set(U32, udp, sourcePort << 16 | (destinationPort & LOW_16));
        buffer.set(U32, udp + 4, udpBytes << 16);
        MemorySegment.copy(memory, at, buffer, udp + UDP_BYTES, bytes);
        long addressesAt = ipv4 ? ip + 12 : ip + 8;
        long sum = sum(addressesAt, udp + udpBytes) + UDP + udpBytes;
        int checksum = checksum(sum);
        buffer.set(U16, udp + 6, (short) (checksum == 0 ? LOW_16 : checksum)); // 0 is none
        filled += frameBytes;
        waiting++;
        return true;
    }

    private void addRecord(int frameBytes) {
        long time = beginEpochNanos + (System.nanoTime() - beginNanos);
        buffer.set(U32, filled, (int) (time / CaptureReader.SECOND_NANOS));
        buffer.set(U32, filled + 4, (int) (time % CaptureReader.SECOND_NANOS));
        buffer.set(U32, filled + 8, frameBytes);
        buffer.set(U32, filled + 12, frameBytes);
        filled += CaptureReader.RECORD_HEADER_BYTES;
    }

    private void addIpv4(int frameBytes, int identification, int source, int destination) {
        long ip = filled;
        buffer.set(U32, ip, 0x4500_0000 | frameBytes);
        buffer.set(U32, ip + 4, identification << 16 | DONT_FRAGMENT);
        buffer.set(U32, ip + 8, HOPS << 24 | UDP << 16);
        buffer.set(U32, ip + 12, source);
        buffer.set(U32, ip + 16, destination);
        buffer.set(U16, ip + 10, (short) checksum(sum(ip, ip + IPV4_BYTES)));
    }

    /** Sum of the words of 16 bits; the last one may be half. */
    private long sum(long from, long to) {
        long sum = 0;
        long at = from;
        for (; to - at >= Short.BYTES; at += Short.BYTES) {
            sum += buffer.get(U16, at) & LOW_16;
        }
        return at < to ? sum + ((buffer.get(U8, at) & 0xff) << Byte.SIZE) : sum;
    }

    private static int checksum(long sum) {
        long folded = sum;
        while (folded > LOW_16) {
            folded = (folded & LOW_16) + (folded >>> Short.SIZE);
        }
        return (int) ~folded & LOW_16;
    }

    /** Whether packets wait for a {@link #flush}. Takes no lock. */
    public boolean hasPackets() {
        return waiting > 0;
    }

    /** Writes what waits. */
    public void flush() {
        synchronized (writing) {
            write(false);
        }
    }

    /** Writes what waits, in the order of the calls; the last one closes it. */
    private void write(boolean last) {
        MemorySegment full;
        int bytes;
        long packets;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = last;
            full = buffer;
            buffer = other;
            other = full;
            bytes = failure == null ? filled : 0;
            packets = waiting;
            filled = 0;
            waiting = 0;
        }
        if (bytes == 0) {
            return;
        }
        IOException failed = null;
        try {
            file.append(full.asSlice(0, bytes));
        } catch (IOException e) {
            failed = e;
        }
        synchronized (this) {
            if (failed == null) {
                written += packets;
            } else {
                failure = failed;
                lost += packets + waiting;
                waiting = 0;
                filled = 0;
            }
        }
        if (failed != null) {
            LOG.log(
                    System.Logger.Level.ERROR,
                    "capture cannot be written any more: file="
                            + ForeignText.escape(path.toString())
                            + ", packets="
                            + written()
                            + ", failure="
                            + Reason.of(failed));
        }
    }

    /** The file. */
    public Path path() {
        return path;
    }

    /** Number of packets that are in the file. */
    public synchronized long written() {
        return written;
    }

    /** Number of packets that are not, since it could not be written. */
    public synchronized long lost() {
        return lost;
    }

    /** Why it could not be written; null if it could. */
    public synchronized @Nullable IOException failure() {
        return failure;
    }

    /** Whether it is closed: a caller saves its own work for each packet then. */
    public boolean isClosed() {
        return closed;
    }

    /** Writes what waits, and closes the file. Idempotent. */
    @Override
    public void close() {
        synchronized (writing) {
            if (!closed) {
                write(true);
                file.close();
            }
        }
    }
}
