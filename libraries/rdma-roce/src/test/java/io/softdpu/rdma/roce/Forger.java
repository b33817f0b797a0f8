package io.softdpu.rdma.roce;

import io.softdpu.rdma.roce.wire.CmCodec;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Icrc;
import io.softdpu.rdma.roce.wire.Opcode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;

/** Plain UDP socket that sends a NIC whatever it is given, with the ICRC of its own address. */
public final class Forger implements AutoCloseable {
    private static final int MOST_BYTES = 1 << 13;

    private final DatagramSocket socket;
    private final InetSocketAddress target;
    private final Icrc icrc = Icrc.ipv4();

    /**
     * A socket at an address, with a port that the system chooses.
     *
     * @param target the NIC, at an IPv4 address as the other
     */
    Forger(Gid from, Gid target) throws IOException {
        this(from, 0, target);
    }

    /** A socket with a port; 0 for one that the system chooses. */
    Forger(Gid from, int port, Gid target) throws IOException {
        InetAddress local = InetAddress.getByAddress(from.addressBytes());
        this.target =
                new InetSocketAddress(
                        InetAddress.getByAddress(target.addressBytes()), target.port());
        socket = new DatagramSocket(new InetSocketAddress(local, port));
        icrc.setAddresses(from.addressBytes(), target.addressBytes());
        icrc.setSourcePort(socket.getLocalPort());
        icrc.setDestinationPort(target.port());
    }

    /** A packet without its ICRC, whose extension headers are 0. */
    static byte[] packet(Opcode opcode, int queuePair, int psn, byte[] payload) {
        int padding = Headers.paddingBytes(payload.length);
        int headers = opcode.headerBytes();
        byte[] packet = new byte[headers + payload.length + padding + Headers.ICRC_BYTES];
        Headers.writeBth(
                MemorySegment.ofArray(packet),
                0,
                opcode,
                Headers.MIGRATED,
                padding,
                queuePair,
                true,
                psn);
        System.arraycopy(payload, 0, packet, headers, payload.length);
        return packet;
    }

    /** A message of connection management without its ICRC. */
    public static byte[] message(byte[] payload, int queueKey, int psn) {
        byte[] packet = packet(Opcode.DATAGRAM, CmCodec.QUEUE_PAIR, psn, payload);
        Headers.writeDeth(
                MemorySegment.ofArray(packet), Headers.BTH_BYTES, queueKey, CmCodec.QUEUE_PAIR);
        return packet;
    }

    /** The same packet, which has its right ICRC now. */
    byte[] sealed(byte[] packet) {
        MemorySegment bytes = MemorySegment.ofArray(packet);
        int value = icrc.of(bytes, ByteBuffer.wrap(packet), 0, packet.length);
        Headers.writeIcrc(bytes, packet.length - Headers.ICRC_BYTES, value);
        return packet;
    }

    /** Sends bytes as they are. */
    void send(byte[] packet) throws IOException {
        socket.send(new DatagramPacket(packet, packet.length, target));
    }

    /** The next packet that has come within a millisecond; empty if none has. */
    Optional<byte[]> receive() throws IOException {
        DatagramPacket packet = new DatagramPacket(new byte[MOST_BYTES], MOST_BYTES);
        socket.setSoTimeout(1);
        try {
            socket.receive(packet);
        } catch (SocketTimeoutException e) {
            return Optional.empty();
        }
        return Optional.of(Arrays.copyOf(packet.getData(), packet.getLength()));
    }

    @Override
    public void close() {
        socket.close();
    }
}
