package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mapping;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Memory of the host in RDMA tasks: imported over PCIe by the DPU, which is the far side, and used
 * there as local memory, or re-exported to the near side as remote memory.
 */
public abstract class RdmaPciContract extends RdmaContract {
    private static final long HOST_BYTES = 1 << 20;
    private static final int PORT = 13_580;
    private static final Permissions SHARED =
            Permissions.of(
                    AccessFlag.LOCAL_READ_WRITE,
                    AccessFlag.PCI_READ_WRITE,
                    AccessFlag.RDMA_READ,
                    AccessFlag.RDMA_WRITE);

    private Machine host;
    private Device hostDevice;
    private SharedMemory hostMemory;
    private MemorySegment hostBytes;
    private Mmap hostMmap;

    /** For subclasses. */
    protected RdmaPciContract() {}

    @BeforeEach
    void openHost() {
        host = environment().openMachine(folder(), Side.HOST);
        hostDevice = host.findDevice(environment().device(Side.HOST)).open();
        hostMemory = SharedMemory.allocate(HOST_BYTES);
        hostBytes = hostMemory.segment();
        hostMmap = Mmap.create();
        hostMmap.setMemory(hostMemory).setPermissions(SHARED).addDevice(hostDevice).start();
    }

    @AfterEach
    void closeHost() {
        hostMmap.close();
        hostMemory.close();
        hostDevice.close();
        host.close();
    }

    @Test
    @Clause({"rdma-014", "rdma-046"})
    void shouldReachHostMemoryThatTheDpuPassesOnWithoutMappingIt() {
        Pair pair = connected();
        Peer near = pair.near();
        Mmap remote = passOn(pair);
        fillHost(0, 100_000, 3);

        near.read(
                pair.toFar(),
                near.inventory.bufByData(remote, 0, 100_000),
                near.room(0, 100_000),
                1);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        assertThat(near.mismatch(0, 100_000, 3)).isEqualTo(-1);

        near.fill(0, 4096, 4);
        near.write(
                pair.toFar(),
                near.data(0, 4096),
                near.inventory.bufByAddress(remote, 200_000, 4096),
                2);
        assertThat(near.next(pair.far()).status()).isEqualTo(Status.SUCCESS);
        for (long i = 0; i < 4096; i++) {
            assertThat(hostBytes.get(ValueLayout.JAVA_BYTE, 200_000 + i))
                    .isEqualTo(Peer.pattern(4, i));
        }
    }

    /** The end that has the memory connects by address, or accepts. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReachHostMemoryThatWasPassedOnBeforeAConnectionByAddress(boolean accepts) {
        List<RdmaConnectionRequest> requests = new ArrayList<>();
        Consumer<Rdma> listening = rdma -> rdma.setConnectionRequestCallback(requests::add);
        Peer near = openConfigured(listening);
        Peer far =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().farSide(),
                                Peer.ALL,
                                listening));
        near.start();
        far.start();
        Mmap remote = passOn(near, far);
        fillHost(0, 4096, 3);
        Peer listener = accepts ? far : near;
        Peer connector = accepts ? near : far;
        listener.rdma.listen(PORT);
        RdmaConnection requested =
                connector.rdma.connect(
                        new RdmaAddress(RdmaAddress.Type.IPV4, listener.device.info().ipv4(), PORT),
                        new byte[0]);
        Peer.drive("a request", () -> !requests.isEmpty(), near, far);
        RdmaConnection accepted = requests.getFirst().accept(new byte[0]);
        Peer.drive(
                "connected",
                () ->
                        requested.state() == RdmaConnection.State.CONNECTED
                                && accepted.state() == RdmaConnection.State.CONNECTED,
                near,
                far);

        near.read(
                accepts ? requested : accepted,
                near.inventory.bufByData(remote, 0, 4096),
                near.room(0, 4096),
                1);

        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        assertThat(near.mismatch(0, 4096, 3)).isEqualTo(-1);
    }

    @Test
    void shouldRefuseHostMemoryThatTheHostHasRevoked() {
        Pair pair = connected();
        Peer near = pair.near();
        Mmap remote = passOn(pair);
        hostMmap.stop();

        Status submitted =
                near.read(
                        pair.toFar(), near.inventory.bufByData(remote, 0, 64), near.room(0, 64), 1);
        assertWithdrawn(submitted, near, pair.far());
    }

    @Test
    @Clause("rdma-047")
    void shouldUseHostMemoryOnTheDpuLikeItsOwn() {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        Mmap local = importPci(far, Mapping.ACCESS);
        Mmap remote = far.importRdma(near);
        near.fill(0, 4096, 1);
        fillHost(8192, 4096, 2);

        far.receive(far.inventory.bufByAddress(local, 0, 4096), 1);
        near.send(pair.toFar(), near.data(0, 4096), 1);
        assertThat(far.next(near).status()).isEqualTo(Status.SUCCESS);
        assertThat(hostMismatch(0, 4096, 1)).isEqualTo(-1);

        near.receive(near.room(10_000, 4096), 2);
        far.send(pair.toNear(), far.inventory.bufByData(local, 8192, 4096), 2);
        Peer.drive("message", () -> near.outcomes.size() == 2, near, far);
        assertThat(near.mismatch(10_000, 4096, 2)).isEqualTo(-1);
        assertThat(far.next(near).status()).isEqualTo(Status.SUCCESS);

        Buf into = far.inventory.bufByAddress(local, 20_000, 4096);
        far.read(pair.toNear(), far.inventory.bufByData(remote, 0, 4096), into, 3);
        assertThat(far.next(near).status()).isEqualTo(Status.SUCCESS);
        assertThat(hostMismatch(20_000, 4096, 1)).isEqualTo(-1);

        Buf from = far.inventory.bufByData(local, 8192, 4096);
        far.write(pair.toNear(), from, far.inventory.bufByAddress(remote, 30_000, 4096), 4);
        assertThat(far.next(near).status()).isEqualTo(Status.SUCCESS);
        assertThat(near.mismatch(30_000, 4096, 2)).isEqualTo(-1);
    }

    @Test
    void shouldRefuseAnImportOverPciAsThePeersMemory() {
        Pair pair = connected();
        Peer far = pair.far();
        Mmap local = importPci(far, Mapping.ACCESS);

        Status submitted =
                far.read(pair.toNear(), far.inventory.bufByData(local, 0, 64), far.room(0, 64), 1);
        assertThat(submitted).isEqualTo(Status.INVALID_VALUE);
    }

    @Test
    void shouldRefuseHostMemoryThatWasImportedOnlyToBePassedOn() {
        Pair pair = connected();
        Peer far = pair.far();
        Mmap unmapped = importPci(far, Mapping.NONE);

        Status submitted = far.send(pair.toNear(), far.inventory.bufByData(unmapped, 0, 64), 1);
        assertThat(submitted).isEqualTo(Status.NOT_SUPPORTED);
    }

    private Mmap importPci(Peer dpu, Mapping mapping) {
        Mmap imported =
                Mmap.createFromExport(
                        hostMmap.exportPci(hostDevice), dpu.device, mapping, Patience.LIMIT);
        dpu.closeLater(imported);
        return imported;
    }

    private Mmap passOn(Pair pair) {
        return passOn(pair.near(), pair.far());
    }

    private Mmap passOn(Peer near, Peer far) {
        Mmap onDpu = importPci(far, Mapping.NONE);
        return near.importRdma(onDpu.exportRdma(far.device));
    }

    private void fillHost(long offset, long length, int seed) {
        for (long i = 0; i < length; i++) {
            hostBytes.set(ValueLayout.JAVA_BYTE, offset + i, Peer.pattern(seed, i));
        }
    }

    private long hostMismatch(long offset, long length, int seed) {
        for (long i = 0; i < length; i++) {
            if (hostBytes.get(ValueLayout.JAVA_BYTE, offset + i) != Peer.pattern(seed, i)) {
                return i;
            }
        }
        return -1;
    }
}
