package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import io.softdpu.rdma.contract.RdmaListenFixture;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import io.softdpu.rdma.roce.cm.FarEnd;
import io.softdpu.rdma.roce.wire.CmCodec;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.roce.wire.RejectReason;
import io.softdpu.rdma.roce.wire.Syndrome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connections by address with a peer that states what Linux does, and nothing else. */
class RoceForeignPeerTest extends RdmaListenFixture {
    private static final int SIZE = 64;
    private static final int ID = 0x7777_0001;

    private Forger forger;
    private FarEnd linux;
    private InetAddress foreign;

    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }

    /** At the address of the near device, whose machine opens no NIC. */
    @BeforeEach
    void open() throws IOException {
        Gid own = Gid.ofAddress(device.info().ipv4().getAddress());
        Gid other = Gid.ofAddress(nearDevice.info().ipv4().getAddress());
        foreign = nearDevice.info().ipv4();
        forger = new Forger(other, Headers.UDP_PORT, own);
        linux = new FarEnd(other, own, FarEnd.LINUX_GUID, ID, 0x99);
    }

    @Override
    protected void closeOthers() {
        forger.close();
    }

    private void send(CmMessage message) throws IOException {
        forger.send(forger.sealed(Forger.message(CmCodec.encode(message), CmCodec.QUEUE_KEY, 1)));
    }

    /** Waits for a message of a kind, and drops what comes before. */
    private <T extends CmMessage> T await(Class<T> kind) {
        List<T> found = new ArrayList<>();
        until(
                kind.getSimpleName(),
                () -> {
                    nextPacket()
                            .filter(packet -> packet.opcode() == Opcode.DATAGRAM)
                            .map(packet ->
                                    CmCodec.decode(
                                            packet.memory(),
                                            packet.payloadAt(),
                                            packet.payloadBytes()))
                            .filter(kind::isInstance)
                            .map(kind::cast)
                            .ifPresent(found::add);
                    return !found.isEmpty();
                });
        return found.getFirst();
    }

    private Optional<Packet> nextPacket() {
        try {
            return forger.receive()
                    .map(bytes -> {
                        Packet packet = new Packet();
                        assertThat(packet.wrap(MemorySegment.ofArray(bytes), 0, bytes.length))
                                .isNull();
                        return packet;
                    });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void shouldTakeItsDataWithPaddingAndItsRefusalAsTheEnd() throws IOException {
        List<Status> results = new ArrayList<>();
        Rdma rdma =
                start(
                        device,
                        1,
                        its ->
                                its.setWriteTasks(
                                        1,
                                        task -> results.add(task.status()),
                                        task -> {
                                            results.add(task.status());
                                            task.free();
                                        }));
        rdma.listen(FarEnd.PORT);
        send(linux.req(new byte[] {7}));
        RdmaConnectionRequest request = nextRequest();
        assertThat(request.privateData()).isEqualTo(Arrays.copyOf(new byte[] {7}, 56));
        assertThat(request.peerAddress()).isEqualTo(foreign);

        RdmaConnection here = request.accept(new byte[] {5});
        CmMessage.Rep answer = await(CmMessage.Rep.class);
        assertThat(answer.privateData())
                .isEqualTo(Arrays.copyOf(new byte[] {5}, Rdma.MAX_ACCEPT_DATA_BYTES));
        send(linux.rtu(answer.localId()));
        until("connected", () -> here.state() == RdmaConnection.State.CONNECTED);
        assertThat(here.peerPrivateData()).isEqualTo(request.privateData());

        RoceMemory stated = new RoceMemory(8, 1, SIZE, Permissions.of(AccessFlag.RDMA_WRITE));
        try (Arena arena = Arena.ofShared();
                Mmap remote = stated.importFrom(foreign, device);
                Mmap local = Mmap.create();
                BufInventory inventory = BufInventory.create(2)) {
            local.setMemory(arena.allocate(SIZE))
                    .setPermissions(Permissions.LOCAL_READ_WRITE)
                    .addDevice(device)
                    .start();
            inventory.start();
            Buf source = inventory.bufByData(local, 0, SIZE);
            Buf destination = inventory.bufByAddress(remote, 0, SIZE);
            rdma.allocateWrite(here, source, destination).submit();
            int[] psn = {-1};
            until(
                    "the write",
                    () -> {
                        nextPacket()
                                .filter(packet -> packet.opcode() == Opcode.WRITE_ONLY)
                                .ifPresent(packet -> psn[0] = packet.psn());
                        return psn[0] >= 0;
                    });
            assertThat(results).as("submitted: what it grants is not known").isEmpty();
            refuse(answer.queuePair(), psn[0]);
            until("the end", () -> here.state() == RdmaConnection.State.FAILED);
            assertThat(results).containsExactly(Status.NOT_PERMITTED);
            assertThat(here.failure()).isEqualTo(Status.NOT_PERMITTED);
            source.release();
            destination.release();
            stop(rdma);
            local.stop();
            inventory.stop();
        }
    }

    private void refuse(int queuePair, int psn) throws IOException {
        byte[] packet = Forger.packet(Opcode.ACKNOWLEDGE, queuePair, psn, new byte[0]);
        Headers.writeAeth(
                MemorySegment.ofArray(packet),
                Headers.BTH_BYTES,
                Syndrome.negative(Syndrome.REMOTE_ACCESS_ERROR),
                0);
        forger.send(forger.sealed(packet));
    }

    @Test
    void shouldTakeTheDataOfItsAnswersWithPadding() throws IOException {
        Rdma rdma = start(device, 1, its -> {});
        RdmaAddress address =
                new RdmaAddress(RdmaAddress.Type.IPV4, nearDevice.info().ipv4(), PORT);

        RdmaConnection rejected = rdma.connect(address, NO_DATA);
        CmMessage.Req first = await(CmMessage.Req.class);
        send(
                linux.withId(0)
                        .rej(
                                first.localId(),
                                CmMessage.About.REQ,
                                RejectReason.CONSUMER,
                                new byte[] {9}));
        until("rejected", () -> rejected.state() == RdmaConnection.State.FAILED);
        assertThat(rejected.failure()).isEqualTo(Status.CONNECTION_ABORTED);
        assertThat(rejected.peerPrivateData())
                .isEqualTo(Arrays.copyOf(new byte[] {9}, Rdma.MAX_REJECT_DATA_BYTES));

        RdmaConnection accepted = rdma.connect(address, NO_DATA);
        int id = first.localId();
        while (id == first.localId()) {
            id = await(CmMessage.Req.class).localId();
        }
        send(linux.rep(id, new byte[] {8}));
        until("connected", () -> accepted.state() == RdmaConnection.State.CONNECTED);
        assertThat(accepted.peerPrivateData())
                .isEqualTo(Arrays.copyOf(new byte[] {8}, Rdma.MAX_ACCEPT_DATA_BYTES));
        assertThat(accepted.peerAddress()).isEqualTo(foreign);
    }
}
