package io.softdpu.cli.packets;

import io.softdpu.core.DpuException;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.roce.capture.Analysis;
import io.softdpu.rdma.roce.capture.Note;
import io.softdpu.rdma.roce.wire.Addresses;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.ExtensionHeader;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.IpAddressing;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.roce.wire.RejectReason;
import io.softdpu.rdma.roce.wire.ServiceId;
import io.softdpu.rdma.roce.wire.Syndrome;
import java.util.Locale;

/**
 * Line of a packet: its number in the file, the time since the first, both ends, the opcode, its
 * fields, and notes.
 */
public final class PacketLine {
    private static final long MICRO_NANOS = 1_000;
    private static final long SECOND_NANOS = 1_000_000_000;

    private PacketLine() {}

    /** Whether there is a note on the packet. */
    public static boolean isNoted(Analysis packet) {
        return !notes(packet).isEmpty();
    }

    /** The packet that was read last. */
    public static String of(Analysis packet) {
        StringBuilder line = new StringBuilder();
        line.append(Text.format("%6d %s  ", packet.number(), time(packet)));
        boolean ipv6 = packet.source().indexOf(':') >= 0;
        line.append(ipv6 ? "[" + packet.source() + "]" : packet.source());
        line.append(':').append(packet.sourcePort());
        line.append(" > ").append(packet.destination()).append("  ");
        if (packet.hasHeaders()) {
            addFields(packet.packet(), line);
            if (packet.message() != null) {
                line.append(", ").append(text(packet.message()));
            }
        } else {
            line.append("MALFORMED");
        }
        return line.append(notes(packet)).toString();
    }

    private static String time(Analysis packet) {
        long nanos = packet.sinceFirstNanos();
        long positive = Math.abs(nanos);
        long fraction = positive % SECOND_NANOS;
        String seconds = (nanos < 0 ? "-" : "") + positive / SECOND_NANOS;
        return packet.isNanoseconds()
                ? Text.format("%5s.%09d", seconds, fraction)
                : Text.format("%5s.%06d", seconds, fraction / MICRO_NANOS);
    }

    /** The notes, each behind a comma. */
    private static String notes(Analysis packet) {
        String fault = packet.fault();
        if (fault != null) {
            return fault.contains(":") ? ", malformed: " + fault : ", malformed=" + fault;
        }
        if (!packet.isIcrcRight()) {
            return ", icrc=bad";
        }
        Note note = packet.note();
        return note == null ? "" : ", " + note.name().toLowerCase(Locale.ROOT);
    }

    private static void addFields(Packet packet, StringBuilder line) {
        Opcode opcode = packet.opcode();
        line.append(Text.format("%-21s", opcode.name()));
        line.append(
                Text.format(
                        " queuePair=0x%06x, psn=0x%06x, bytes=%d",
                        packet.queuePair(), packet.psn(), packet.payloadBytes()));
        if (opcode.has(ExtensionHeader.RETH)) {
            line.append(", lengthBytes=").append(packet.lengthBytes());
        }
        if (opcode.has(ExtensionHeader.RETH) || opcode.has(ExtensionHeader.ATOMIC_ETH)) {
            line.append(
                    Text.format(", key=0x%08x, address=0x%016x", packet.key(), packet.address()));
        }
        if (opcode == Opcode.COMPARE_SWAP) {
            line.append(
                    Text.format(", compare=0x%x, swap=0x%x", packet.compare(), packet.swapOrAdd()));
        }
        if (opcode == Opcode.FETCH_ADD) {
            line.append(Text.format(", add=0x%x", packet.swapOrAdd()));
        }
        if (opcode.has(ExtensionHeader.AETH)) {
            line.append(", syndrome=").append(syndrome(packet.syndrome()));
            line.append(", msn=").append(packet.msn());
        }
        if (opcode.has(ExtensionHeader.ATOMIC_ACK_ETH)) {
            line.append(Text.format(", before=0x%x", packet.valueBefore()));
        }
        if (opcode.has(ExtensionHeader.IMMEDIATE)) {
            line.append(Text.format(", immediate=0x%08x", packet.immediate()));
        }
        if (opcode.has(ExtensionHeader.INVALIDATE)) {
            line.append(Text.format(", invalidatedKey=0x%08x", packet.invalidatedKey()));
        }
        if (opcode.has(ExtensionHeader.DETH)) {
            line.append(Text.format(", sourceQueuePair=0x%06x", packet.sourceQueuePair()));
        }
        line.append((packet.flags() & Headers.SOLICITED) != 0 ? ", solicited" : "");
        line.append(packet.asksAcknowledgement() ? ", acknowledge" : "");
        line.append(packet.congestion() != 0 ? ", congestion" : "");
    }

    private static String syndrome(int syndrome) {
        int value = Syndrome.value(syndrome);
        if (Syndrome.isAcknowledgement(syndrome)) {
            return "ACK";
        }
        if (Syndrome.isReceiverNotReady(syndrome)) {
            return "RNR NAK, timerCode=" + value;
        }
        if (!Syndrome.isNegative(syndrome)) {
            return Text.format("0x%02x", syndrome);
        }
        return switch (value) {
            case Syndrome.SEQUENCE_ERROR -> "NAK sequence error";
            case Syndrome.INVALID_REQUEST -> "NAK invalid request";
            case Syndrome.REMOTE_ACCESS_ERROR -> "NAK remote access error";
            case Syndrome.REMOTE_OPERATIONAL_ERROR -> "NAK remote operational error";
            default -> "NAK code " + value;
        };
    }

    private static String text(CmMessage message) {
        String ids = Text.format("%s: localId=0x%08x", message.attribute(), message.localId());
        return ids
                + switch (message) {
                    case CmMessage.Req req -> text(req);
                    case CmMessage.Rep rep ->
                            remote(rep.remoteId())
                                    + Text.format(
                                            ", localQueuePair=0x%06x, startingPsn=0x%06x",
                                            rep.queuePair(), rep.startingPsn());
                    case CmMessage.Rtu rtu -> remote(rtu.remoteId());
                    case CmMessage.Rej rej -> remote(rej.remoteId()) + text(rej);
                    case CmMessage.Mra mra -> remote(mra.remoteId()) + ", about=" + mra.about();
                    case CmMessage.Dreq dreq ->
                            remote(dreq.remoteId())
                                    + Text.format(
                                            ", remoteQueuePair=0x%06x", dreq.remoteQueuePair());
                    case CmMessage.Drep drep -> remote(drep.remoteId());
                };
    }

    private static String remote(int id) {
        return Text.format(", remoteId=0x%08x", id);
    }

    private static String text(CmMessage.Req req) {
        String text =
                Text.format(
                        ", localQueuePair=0x%06x, startingPsn=0x%06x, mtuBytes=%d",
                        req.queuePair(), req.startingPsn(), 128 << req.pathMtu());
        if (!ServiceId.isPort(req.serviceId())) {
            return text + Text.format(", serviceId=0x%016x", req.serviceId());
        }
        try {
            IpAddressing addresses = IpAddressing.decode(req.privateData());
            return text
                    + Text.format(
                            ", source=%s, sourcePort=%d, destination=%s, port=%d",
                            Addresses.text(addresses.source()),
                            addresses.sourcePort(),
                            Addresses.text(addresses.destination()),
                            ServiceId.port(req.serviceId()));
        } catch (DpuException e) { // of a peer that does not follow the annex
            return text + Text.format(", port=%d", ServiceId.port(req.serviceId()));
        }
    }

    private static String text(CmMessage.Rej rej) {
        String reason = RejectReason.text(rej.reason());
        return ", about=" + rej.about() + ", reason=" + (reason == null ? rej.reason() : reason);
    }
}
