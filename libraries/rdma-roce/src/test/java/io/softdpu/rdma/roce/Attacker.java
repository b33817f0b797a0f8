package io.softdpu.rdma.roce;

import io.softdpu.rdma.roce.cm.FarEnd;
import io.softdpu.rdma.roce.wire.CmAttribute;
import io.softdpu.rdma.roce.wire.CmCodec;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import io.softdpu.testkit.SeededRandom;
import java.io.IOException;
import java.util.Arrays;

/**
 * Sender of hostile packets to a NIC, which knows all of one of its connections, and has sockets at
 * a foreign address and at that of the peer. It sends nothing that the peer could have sent.
 */
final class Attacker implements AutoCloseable {
    private static final int MOST_RANDOM_BYTES = 5000;
    private static final int MOST_PAYLOAD_BYTES = 300;
    private static final int MTU_BYTES = 1024;

    /** Beyond what the connection sends: packets so far away are never the expected ones. */
    private static final int FAR_AWAY = 1 << 22;

    private static final int SPREAD = 1 << 20;

    /** Of the low byte of its attribute in a message of connection management. */
    private static final int ATTRIBUTE_AT = Opcode.DATAGRAM.headerBytes() + 17;

    private final SeededRandom random;
    private final Recording recording;
    private final Forger foreign;
    private final Forger beside;
    private final FarEnd peer;
    private final FarEnd unknown;

    /**
     * An attacker of a recorded connection.
     *
     * @param near the peer, whose address has the socket beside it
     * @param foreign an address that is nobody's
     */
    Attacker(SeededRandom random, Recording recording, Gid near, Gid foreign, Gid target)
            throws IOException {
        this.random = random;
        this.recording = recording;
        this.foreign = new Forger(foreign, target);
        this.beside = new Forger(near, target);
        peer =
                new FarEnd(
                        foreign,
                        target,
                        FarEnd.LINUX_GUID,
                        recording.nearId(),
                        recording.nearQueuePair());
        unknown =
                new FarEnd(near, target, FarEnd.LINUX_GUID, ~recording.nearId(), 0x123)
                        .withQueuePair(recording.nearQueuePair() ^ 1);
    }

    /** Sends a packet. */
    void attack() throws IOException {
        Forger either = random.nextBoolean() ? foreign : beside;
        switch (random.nextInt(8)) {
            case 0 -> either.send(randomBytes());
            case 1, 2 -> either.send(changed(either.sealed(recorded())));
            case 3 -> foreign.send(foreign.sealed(wellFormed()));
            case 4 -> beside.send(beside.sealed(outOfWindow()));
            case 5 -> beside.send(beside.sealed(toUnknownQueuePair()));
            case 6 -> foreign.send(foreign.sealed(message()));
            default -> beside.send(changed(beside.sealed(messageOf(unknown, random.nextInt()))));
        }
    }

    private byte[] recorded() {
        return recording.packets().get(random.nextInt(recording.packets().size()));
    }

    /** Bytes that look like a packet for the queue pair, some of them. */
    private byte[] randomBytes() {
        byte[] packet = random.bytes(random.nextInt(MOST_RANDOM_BYTES));
        if (packet.length >= Headers.BTH_BYTES && random.nextBoolean()) {
            byte[] like =
                    Forger.packet(random.oneOf(Opcode.values()), queuePair(), psn(), new byte[0]);
            System.arraycopy(like, 0, packet, 0, Headers.BTH_BYTES);
        }
        return packet;
    }

    /** A copy with a bit, some bytes or the length changed, but for the ICRC. */
    private byte[] changed(byte[] packet) {
        return switch (random.nextInt(4)) {
            case 0 -> {
                byte[] copy = packet.clone();
                copy[random.nextInt(copy.length)] ^= (byte) (1 << random.nextInt(Byte.SIZE));
                yield copy;
            }
            case 1 -> random.damaged(packet);
            case 2 -> Arrays.copyOf(packet, random.nextInt(packet.length));
            default -> Arrays.copyOf(packet, packet.length + random.nextInt(1, 9));
        };
    }

    /** Any packet, also the one that the connection expects next. */
    private byte[] wellFormed() {
        return filled(random.oneOf(Opcode.values()), queuePair(), psn());
    }

    private byte[] filled(Opcode opcode, int queuePair, int psn) {
        int bytes = opcode.hasPayload() ? payloadBytes() : 0;
        byte[] packet = Forger.packet(opcode, queuePair, psn, random.bytes(bytes));
        for (int at = Headers.BTH_BYTES; at < opcode.headerBytes(); at++) {
            packet[at] = (byte) random.nextInt(); // keys, addresses, lengths
        }
        return packet;
    }

    private int payloadBytes() {
        return random.chance(0.1)
                ? random.oneOf(MTU_BYTES - 1, MTU_BYTES, MTU_BYTES + 1)
                : random.nextInt(MOST_PAYLOAD_BYTES);
    }

    private int queuePair() {
        return random.oneOf(
                0, CmCodec.QUEUE_PAIR, recording.farQueuePair(), random.nextInt(1 << 24));
    }

    private int psn() {
        return SequenceNumber.add(recording.requestPsn(), random.nextInt(100));
    }

    /** A request long after or before the expected one, or an answer to none. */
    private byte[] outOfWindow() {
        Opcode opcode = random.oneOf(Opcode.values());
        while (opcode.role() != Opcode.Role.REQUEST && opcode.role() != Opcode.Role.RESPONSE) {
            opcode = random.oneOf(Opcode.values());
        }
        int near =
                opcode.role() == Opcode.Role.REQUEST
                        ? recording.requestPsn()
                        : recording.answerPsn();
        int away =
                random.nextBoolean()
                        ? FAR_AWAY + random.nextInt(SPREAD)
                        : -1 - random.nextInt(SPREAD);
        return filled(opcode, recording.farQueuePair(), SequenceNumber.add(near, away));
    }

    private byte[] toUnknownQueuePair() {
        Opcode opcode = random.oneOf(Opcode.SEND_ONLY, Opcode.WRITE_ONLY, Opcode.ACKNOWLEDGE);
        int other = recording.farQueuePair() + random.nextInt(1, 1 << 23);
        return filled(opcode, other, psn());
    }

    /** A message about the connection, which only its peer may send; or none at all. */
    private byte[] message() {
        byte[] message = messageOf(peer, recording.farId());
        return switch (random.nextInt(4)) {
            case 0 -> {
                int at = Opcode.DATAGRAM.headerBytes();
                byte[] body = Arrays.copyOfRange(message, at, at + CmCodec.MESSAGE_BYTES);
                yield Forger.message(random.damaged(body), CmCodec.QUEUE_KEY, psn());
            }
            case 1 -> {
                byte[] body = random.bytes(CmCodec.MESSAGE_BYTES);
                yield Forger.message(body, random.oneOf(CmCodec.QUEUE_KEY, 0), psn());
            }
            case 2 -> { // of a kind that nobody here takes
                message[ATTRIBUTE_AT] =
                        (byte) random.oneOf(CmAttribute.SIDR_REQ, CmAttribute.LAP).code();
                yield message;
            }
            default -> message;
        };
    }

    private byte[] messageOf(FarEnd end, int remoteId) {
        byte[] body = CmCodec.encode(end.any(random, remoteId, recording.farQueuePair()));
        return Forger.message(body, CmCodec.QUEUE_KEY, psn());
    }

    @Override
    public void close() {
        foreign.close();
        beside.close();
    }
}
