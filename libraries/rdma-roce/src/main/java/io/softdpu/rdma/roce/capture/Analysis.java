package io.softdpu.rdma.roce.capture;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.rdma.roce.wire.Addresses;
import io.softdpu.rdma.roce.wire.CmCodec;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.Icrc;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.roce.wire.PacketFault;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Analysis of a capture, packet by packet: {@link #next} reads up to the next packet of RoCE v2,
 * and the accessors tell what it is. Other frames are counted.
 *
 * <p>A packet is malformed, or it has a view; one with a wrong ICRC is a packet, but does not count
 * for its connection, since its receiver drops it.
 */
public final class Analysis {
    private final CaptureReader reader;
    private final Datagram datagram;
    private final MemorySegment frame;
    private final ByteBuffer view;
    private final Icrc ipv4 = Icrc.ipv4();
    private final Icrc ipv6 = Icrc.ipv6();
    private final Packet packet = new Packet();
    private final Flows flows = new Flows();

    private long firstNanos;
    private String source = "";
    private String destination = "";
    private @Nullable String fault;
    private boolean icrcRight;
    private @Nullable Note note;
    private @Nullable CmMessage message;

    private long packets;
    private long badIcrc;
    private long malformed;
    private long otherFrames;
    private long connectionMessages;

    /**
     * Begins with a stream.
     *
     * @param input a file in the format pcap, read from its position on, in small pieces; the
     *     caller's to close
     * @throws IOException if it cannot be read
     * @throws DpuException INVALID_VALUE if it is no capture; NOT_SUPPORTED for pcapng and another
     *     link type
     */
    public Analysis(InputStream input) throws IOException {
        reader = new CaptureReader(input);
        datagram = new Datagram(reader.bytes());
        frame = MemorySegment.ofArray(reader.bytes());
        view = ByteBuffer.wrap(reader.bytes());
    }

    /**
     * Reads up to the next packet.
     *
     * @return false at the end of the capture
     * @throws IOException if it cannot be read
     * @throws DpuException INVALID_VALUE for a record that is cut or too large, with its offset
     */
    public boolean next() throws IOException {
        while (reader.next()) {
            firstNanos = reader.number() == 1 ? reader.timeNanos() : firstNanos;
            Datagram.Kind kind = datagram.wrap(reader.linkType(), reader.frameBytes());
            if (kind != Datagram.Kind.OTHER
                    && (kind != Datagram.Kind.OTHER_PORT || hasRightIcrc())) {
                packets++;
                source = Addresses.text(datagram.source());
                destination = Addresses.text(datagram.destination());
                look(kind);
                return true;
            }
            otherFrames++;
        }
        return false;
    }

    /**
     * Whether a datagram is a packet with a right ICRC: most for the port are of other programs.
     */
    private boolean hasRightIcrc() {
        return packet.wrap(frame, datagram.payloadAt(), datagram.payloadBytes()) == null
                && isIcrcOfPacket();
    }

    private boolean isIcrcOfPacket() {
        Icrc icrc = datagram.isIpv4() ? ipv4 : ipv6;
        datagram.setIn(icrc);
        return icrc.of(packet, view) == packet.icrc();
    }

    private void look(Datagram.Kind kind) {
        fault = null;
        note = null;
        message = null;
        icrcRight = false;
        if (kind != Datagram.Kind.WHOLE && kind != Datagram.Kind.OTHER_PORT) {
            fail(word(kind));
            return;
        }
        PacketFault found = packet.wrap(frame, datagram.payloadAt(), datagram.payloadBytes());
        if (found != null) {
            fail(word(found));
            return;
        }
        icrcRight = isIcrcOfPacket();
        if (!icrcRight) {
            badIcrc++;
            return;
        }
        switch (packet.opcode().role()) {
            case DATAGRAM -> lookAtMessage();
            case REQUEST, RESPONSE -> note = flows.add(source, destination, packet);
            case NOTIFICATION -> {} // has no sequence number
        }
    }

    private void lookAtMessage() {
        boolean forManagement =
                packet.opcode() == Opcode.DATAGRAM && packet.queuePair() == CmCodec.QUEUE_PAIR;
        if (!forManagement
                || CmCodec.attribute(frame, packet.payloadAt(), packet.payloadBytes()) == null) {
            return; // a datagram of another protocol
        }
        connectionMessages++;
        try {
            message = CmCodec.decode(frame, packet.payloadAt(), packet.payloadBytes());
            flows.add(source, destination, message);
        } catch (DpuException e) {
            if (e.status() != Status.NOT_SUPPORTED) { // such a kind is well-formed
                fail(String.valueOf(e.getMessage()));
            }
        }
    }

    private void fail(String reason) {
        fault = reason;
        malformed++;
    }

    private static String word(Enum<?> fault) {
        return fault.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    // ---- the packet ----

    /** Number of its record in the file, from 1 on. */
    public long number() {
        return reader.number();
    }

    /** Time since the first record; negative if the capture is not in order. */
    public long sinceFirstNanos() {
        return reader.timeNanos() - firstNanos;
    }

    /** Whether times have nanoseconds. */
    public boolean isNanoseconds() {
        return reader.isNanoseconds();
    }

    /** The sender's address. */
    public String source() {
        return source;
    }

    /** The sender's UDP port. */
    public int sourcePort() {
        return datagram.sourcePort();
    }

    /** The receiver's address. */
    public String destination() {
        return destination;
    }

    /**
     * Why the packet is malformed, as a word, or for a connection message as a sentence.
     *
     * @return null if it is well-formed
     */
    public @Nullable String fault() {
        return fault;
    }

    /** Whether {@link #packet} is of this packet: its headers are well-formed. */
    public boolean hasHeaders() {
        return fault == null || icrcRight;
    }

    /** View of the packet, if {@link #hasHeaders}. */
    public Packet packet() {
        return packet;
    }

    /** Whether the ICRC is right; false for a malformed packet. */
    public boolean isIcrcRight() {
        return icrcRight;
    }

    /** Remark on a packet of a connection; null without one. */
    public @Nullable Note note() {
        return note;
    }

    /** The connection message that the packet has; null without one. */
    public @Nullable CmMessage message() {
        return message;
    }

    // ---- what was read so far ----

    /** Number of packets, those that are malformed or have a wrong ICRC among them. */
    public long packets() {
        return packets;
    }

    /** Number of packets with a wrong ICRC. */
    public long badIcrc() {
        return badIcrc;
    }

    /** Number of malformed packets. */
    public long malformed() {
        return malformed;
    }

    /** Number of frames that are no packets of RoCE v2. */
    public long otherFrames() {
        return otherFrames;
    }

    /** Number of messages of connection management. */
    public long connectionMessages() {
        return connectionMessages;
    }

    /** The directions of connections, in the order of their first packets; at most 4,096. */
    public List<Flow> flows() {
        return flows.all();
    }
}
