package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.contract.RdmaListenFixture;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import io.softdpu.rdma.roce.wire.Syndrome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Peers by parameters that send what a queue pair does not: such a peer has chosen its queue pair
 * and its PSN, is told those of this end, and sends from the right address.
 */
class RoceParametersBadInputTest extends RdmaListenFixture {
    private static final int SIZE = 4096;
    private static final int PAYLOAD = 64;
    private static final int PEERS_QUEUE_PAIR = 0x99;
    private static final int PSN = 0xfffffe;
    private static final int FAR_AWAY = 100_000;
    private static final byte BEFORE = 0x55; // in all of the memory that the peer has a key of
    private static final byte GOOD = 0x11;
    private static final byte BAD = 0x77;

    private final Arena arena = Arena.ofShared();
    private final Mmap exported = Mmap.create();
    private final Mmap local = Mmap.create();
    private final BufInventory inventory = BufInventory.create(1);
    private final List<Status> received = new ArrayList<>();
    private final SharedMemory memory = SharedMemory.allocate(SIZE);
    private MemorySegment message;
    private Rdma rdma;
    private RdmaConnection connection;
    private RoceMemory stated;
    private int queuePair;
    private Forger peer;

    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }

    @BeforeEach
    void connect() throws IOException {
        Gid own = Gid.ofAddress(device.info().ipv4().getAddress());
        Gid other = Gid.ofAddress(nearDevice.info().ipv4().getAddress());
        peer = new Forger(other, Headers.UDP_PORT, own);
        memory.segment().fill(BEFORE);
        message = arena.allocate(SIZE);
        Permissions remote =
                Permissions.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE, AccessFlag.RDMA_ATOMIC);
        exported.setMemory(memory)
                .setPermissions(
                        Permissions.of(
                                AccessFlag.LOCAL_READ_WRITE,
                                AccessFlag.RDMA_READ,
                                AccessFlag.RDMA_WRITE,
                                AccessFlag.RDMA_ATOMIC))
                .addDevice(device)
                .start();
        local.setMemory(message)
                .setPermissions(Permissions.LOCAL_READ_WRITE)
                .addDevice(device)
                .start();
        inventory.start();
        rdma =
                start(
                        device,
                        1,
                        its ->
                                its.setPermissions(remote)
                                        .setReceiveTasks(1, this::received, this::received));
        connection = rdma.exportConnection();
        queuePair = RoceQueuePair.of(connection).number();
        stated = RoceMemory.of(exported, device);
        rdma.connect(
                new RoceQueuePair(nearDevice.info().ipv4(), PEERS_QUEUE_PAIR, PSN, 1024, 16).blob(),
                connection);
        until("connected", () -> connection.state() == RdmaConnection.State.CONNECTED);
    }

    @Override
    protected void closeOthers() {
        peer.close();
        exported.stop();
        exported.close();
        local.stop();
        local.close();
        inventory.stop();
        inventory.close();
        memory.close();
        arena.close();
    }

    private void received(RdmaReceiveTask task) {
        received.add(task.status());
        Buf destination = task.destination();
        task.free();
        destination.release();
    }

    private static byte[] payload(byte value) {
        byte[] bytes = new byte[PAYLOAD];
        Arrays.fill(bytes, value);
        return bytes;
    }

    private byte[] packet(Opcode opcode, int psn, byte value) {
        return Forger.packet(
                opcode, queuePair, psn, opcode.hasPayload() ? payload(value) : new byte[0]);
    }

    /** A write or read of an offset, with its own length. */
    private byte[] remote(Opcode opcode, long offset, int key, long lengthBytes) {
        byte[] packet = packet(opcode, PSN, BAD);
        Headers.writeReth(
                MemorySegment.ofArray(packet),
                Headers.BTH_BYTES,
                stated.address() + offset,
                key,
                lengthBytes);
        return packet;
    }

    private byte[] atomic(long offset, int key) {
        byte[] packet = packet(Opcode.FETCH_ADD, PSN, BAD);
        Headers.writeAtomicEth(
                MemorySegment.ofArray(packet),
                Headers.BTH_BYTES,
                stated.address() + offset,
                key,
                1,
                0);
        return packet;
    }

    private void send(byte[] packet) throws IOException {
        peer.send(peer.sealed(packet));
    }

    private void assertUnchanged() {
        for (byte each : memory.segment().toArray(ValueLayout.JAVA_BYTE)) {
            assertThat(each).isEqualTo(BEFORE);
        }
    }

    private enum Dropped {
        FAR_AHEAD,
        FAR_BEHIND,
        WRONG_ICRC,
        OTHER_QUEUE_PAIR,
        OTHER_VERSION,
        CUT,
        WITHOUT_ITS_HEADERS,
        ANSWER_TO_NOTHING
    }

    private void send(Dropped kind) throws IOException {
        byte[] packet = packet(Opcode.SEND_ONLY, PSN, BAD);
        switch (kind) {
            case FAR_AHEAD ->
                    send(packet(Opcode.SEND_ONLY, SequenceNumber.add(PSN, FAR_AWAY), BAD));
            case FAR_BEHIND ->
                    send(packet(Opcode.SEND_ONLY, SequenceNumber.add(PSN, -FAR_AWAY), BAD));
            case WRONG_ICRC -> {
                peer.sealed(packet)[packet.length - 1] ^= 1;
                peer.send(packet);
            }
            case OTHER_QUEUE_PAIR ->
                    send(Forger.packet(Opcode.SEND_ONLY, queuePair ^ 1, PSN, payload(BAD)));
            case OTHER_VERSION -> {
                packet[1] |= 1;
                send(packet);
            }
            case CUT -> {
                peer.sealed(packet);
                for (int length = 0; length < packet.length; length++) {
                    peer.send(Arrays.copyOf(packet, length));
                }
            }
            case WITHOUT_ITS_HEADERS -> {
                byte[] cut = new byte[Headers.BTH_BYTES + Headers.ICRC_BYTES];
                System.arraycopy(packet(Opcode.WRITE_ONLY, PSN, BAD), 0, cut, 0, Headers.BTH_BYTES);
                send(cut);
            }
            case ANSWER_TO_NOTHING -> send(packet(Opcode.READ_RESPONSE_ONLY, PSN, BAD));
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldContinueBehindWhatIsDropped(Dropped kind) throws IOException {
        rdma.allocateReceive(inventory.bufByAddress(local, 0, SIZE)).submit();
        send(kind);
        send(packet(Opcode.SEND_ONLY, PSN, GOOD));
        until("the message", () -> !received.isEmpty());

        assertThat(received).containsExactly(Status.SUCCESS);
        assertThat(message.asSlice(0, PAYLOAD).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(payload(GOOD));
        assertThat(connection.state()).isEqualTo(RdmaConnection.State.CONNECTED);
        assertUnchanged();
    }

    private enum Refused {
        MIDDLE_OF_NO_SEND,
        LAST_OF_NO_WRITE,
        FIRST_THAT_IS_SHORT,
        WRONG_KEY,
        READ_WITH_WRONG_KEY,
        ATOMIC_WITH_WRONG_KEY,
        BEYOND,
        READ_BEYOND,
        BEFORE_ITS_BEGIN,
        AROUND_THE_END_OF_ADDRESSES,
        ATOMIC_BEYOND,
        ATOMIC_UNALIGNED,
        MORE_THAN_STATED,
        LESS_THAN_STATED
    }

    private byte[] packet(Refused kind) {
        int key = stated.key();
        return switch (kind) {
            case MIDDLE_OF_NO_SEND -> packet(Opcode.SEND_MIDDLE, PSN, BAD);
            case LAST_OF_NO_WRITE -> packet(Opcode.WRITE_LAST, PSN, BAD);
            case FIRST_THAT_IS_SHORT -> packet(Opcode.SEND_FIRST, PSN, BAD);
            case WRONG_KEY -> remote(Opcode.WRITE_ONLY, 0, key ^ 0x100, PAYLOAD);
            case READ_WITH_WRONG_KEY -> remote(Opcode.READ_REQUEST, 0, key ^ 0x100, PAYLOAD);
            case ATOMIC_WITH_WRONG_KEY -> atomic(0, key ^ 0x100);
            case BEYOND -> remote(Opcode.WRITE_ONLY, SIZE - PAYLOAD + 1, key, PAYLOAD);
            case READ_BEYOND -> remote(Opcode.READ_REQUEST, 0, key, SIZE + 1);
            case BEFORE_ITS_BEGIN -> remote(Opcode.WRITE_ONLY, -1, key, PAYLOAD);
            case AROUND_THE_END_OF_ADDRESSES ->
                    remote(Opcode.WRITE_ONLY, -1 - stated.address(), key, PAYLOAD);
            case ATOMIC_BEYOND -> atomic(SIZE, key);
            case ATOMIC_UNALIGNED -> atomic(4, key);
            case MORE_THAN_STATED -> remote(Opcode.WRITE_ONLY, 0, key, PAYLOAD - 4);
            case LESS_THAN_STATED -> remote(Opcode.WRITE_ONLY, 0, key, PAYLOAD + 4);
        };
    }

    @ParameterizedTest
    @CsvSource({
        "MIDDLE_OF_NO_SEND, UNEXPECTED",
        "LAST_OF_NO_WRITE, UNEXPECTED",
        "FIRST_THAT_IS_SHORT, UNEXPECTED",
        "WRONG_KEY, NOT_PERMITTED",
        "READ_WITH_WRONG_KEY, NOT_PERMITTED",
        "ATOMIC_WITH_WRONG_KEY, NOT_PERMITTED",
        "BEYOND, NOT_PERMITTED",
        "READ_BEYOND, NOT_PERMITTED",
        "BEFORE_ITS_BEGIN, NOT_PERMITTED",
        "AROUND_THE_END_OF_ADDRESSES, NOT_PERMITTED",
        "ATOMIC_BEYOND, NOT_PERMITTED",
        "ATOMIC_UNALIGNED, UNEXPECTED",
        "MORE_THAN_STATED, UNEXPECTED",
        "LESS_THAN_STATED, UNEXPECTED"
    })
    void shouldEndByAnAnswerToWhatIsRefused(Refused kind, Status status) throws IOException {
        send(packet(kind));
        until("the end", () -> connection.state() == RdmaConnection.State.FAILED);

        assertThat(connection.failure()).isEqualTo(status);
        assertThat(nextSyndrome())
                .isEqualTo(
                        Syndrome.negative(
                                status == Status.UNEXPECTED
                                        ? Syndrome.INVALID_REQUEST
                                        : Syndrome.REMOTE_ACCESS_ERROR));
        assertUnchanged();
    }

    private int nextSyndrome() {
        int[] found = {-1};
        until(
                "the answer",
                () -> {
                    try {
                        peer.receive()
                                .ifPresent(bytes -> {
                                    Packet packet = new Packet();
                                    assertThat(
                                                    packet.wrap(
                                                            MemorySegment.ofArray(bytes),
                                                            0,
                                                            bytes.length))
                                            .isNull();
                                    assertThat(packet.queuePair()).isEqualTo(PEERS_QUEUE_PAIR);
                                    found[0] = packet.syndrome();
                                });
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                    return found[0] >= 0;
                });
        return found[0];
    }
}
