package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.testkit.Clause;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Permissions of mmaps and instances for sends and receives: the guide's table, and its limits. */
public abstract class RdmaMessagePermissionContract extends RdmaContract {
    /** For subclasses. */
    protected RdmaMessagePermissionContract() {}

    @Test
    @Clause({"rdma-030", "rdma-031", "rdma-032"})
    void shouldExchangeMessagesWithLocalPermissionsOnlyAndWithoutAnyExport() {
        Pair pair = connect(openWith(true, LOCAL), openWith(false, LOCAL));
        pair.near().fill(0, 100, 1);
        pair.far().receive(pair.far().room(0, 100), 1);
        pair.near().send(pair.toFar(), pair.near().data(0, 100), 2);

        assertThat(pair.far().next(pair.near()).status()).isEqualTo(Status.SUCCESS);
        assertThat(pair.near().next(pair.far()).status()).isEqualTo(Status.SUCCESS);
        assertThat(pair.far().mismatch(0, 100, 1)).isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Clause({"rdma-035", "rdma-045"})
    void shouldReceiveWhateverThePeerGrantsAndExports(boolean everything) {
        Peer near =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().nearSide(),
                                everything ? Peer.ALL : LOCAL,
                                rdma ->
                                        rdma.setPermissions(
                                                everything
                                                        ? Peer.ALL
                                                        : Permissions.LOCAL_READ_ONLY)));
        Pair pair = connect(near, openWith(false, LOCAL));
        if (everything) {
            pair.far().importRdma(near);
        }
        near.fill(0, 100, 1);
        pair.far().receive(pair.far().room(0, 100), 1);
        near.send(pair.toFar(), near.data(0, 100), 2);
        assertThat(pair.far().next(near).status()).isEqualTo(Status.SUCCESS);
        assertThat(pair.far().mismatch(0, 100, 1)).isEqualTo(-1);
        assertThat(near.next(pair.far()).status()).isEqualTo(Status.SUCCESS);
    }

    @Test
    @Clause({"rdma-030", "rdma-031", "rdma-034"})
    void shouldRefuseReadOnlyMemoryForSendsAndForReceives() {
        Permissions readOnly = Permissions.LOCAL_READ_ONLY;
        Pair pair = connect(openWith(true, readOnly), openWith(false, readOnly));

        assertThat(pair.near().send(pair.toFar(), pair.near().data(0, 8), 1))
                .isEqualTo(Status.NOT_PERMITTED);
        assertThat(pair.far().receive(pair.far().room(0, 8), 2)).isEqualTo(Status.NOT_PERMITTED);
        assertThat(pair.near().rdma.inFlightTasks()).isZero();
        assertThat(pair.far().rdma.inFlightTasks()).isZero();
    }

    @Test
    void shouldRefuseMemoryThatTheInstancesDeviceWasNotGiven() {
        Pair pair = connected();
        Peer far = pair.far(); // the side with several devices
        try (Mmap other = Mmap.create();
                BufInventory inventory = BufInventory.create(1)) {
            inventory.start();
            other.setMemory(far.memory).setPermissions(LOCAL).addDevice(otherDevice(far)).start();
            Buf buf = inventory.bufByData(other, 0, 8);
            RdmaSendTask task = far.rdma.allocateSend(pair.toNear(), buf);
            assertThat(task.trySubmit()).isEqualTo(Status.NOT_PERMITTED);
            task.free();
            buf.release();
        }
    }

    @Test
    @Clause("rdma-085")
    void shouldRefuseAMessageBeyondTheLimit() throws IOException {
        Pair pair = connected();
        Peer near = pair.near();
        long limit = RdmaCapabilities.of(near.device.info()).maxMessageBytes();
        // A file with a hole: addresses without memory, which are not accessed.
        try (Arena arena = Arena.ofShared();
                FileChannel file =
                        FileChannel.open(
                                folder().resolve("hole"),
                                StandardOpenOption.CREATE,
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE);
                Mmap large = Mmap.create()) {
            MemorySegment memory = file.map(FileChannel.MapMode.READ_WRITE, 0, limit + 1, arena);
            large.setMemory(memory).setPermissions(LOCAL).addDevice(near.device).start();
            Status submitted =
                    near.send(pair.toFar(), near.inventory.bufByData(large, 0, limit + 1), 1);
            assertThat(submitted).isEqualTo(Status.INVALID_VALUE);
            large.stop();
        }
    }

    private static final Permissions LOCAL = Permissions.LOCAL_READ_WRITE;

    private static Device otherDevice(Peer peer) {
        DeviceInfo info =
                peer.machine.devices().stream()
                        .filter(device ->
                                !device.pciAddress().equals(peer.device.info().pciAddress()))
                        .findFirst()
                        .orElseThrow();
        Device device = info.open();
        peer.closeLater(device);
        return device;
    }

    private Peer openWith(boolean near, Permissions ofMmap) {
        return add(
                Peer.open(
                        environment(),
                        folder(),
                        near ? environment().nearSide() : environment().farSide(),
                        ofMmap,
                        rdma -> rdma.setPermissions(Permissions.LOCAL_READ_ONLY)));
    }
}
