package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaWriteTask;
import io.softdpu.testkit.Patience;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Test as users write it, with the extension, whose target has a fabric folder of its own. */
@SoftDpuTest(separateFolders = Side.TARGET)
class RoceCardTest {
    private static final int SIZE = 64 << 10;

    private static Mmap mmap(Device device, SharedMemory memory, AccessFlag access) {
        return Mmap.create()
                .setMemory(memory)
                .setPermissions(Permissions.of(AccessFlag.LOCAL_READ_WRITE, access))
                .addDevice(device)
                .start();
    }

    private static RdmaConnection connect(SoftDpu card, Rdma one, Rdma other) {
        card.engine().connect(one);
        card.engine().connect(other);
        one.start();
        other.start();
        RdmaConnection here = one.exportConnection();
        RdmaConnection there = other.exportConnection();
        one.connect(there.blob(), here);
        other.connect(here.blob(), there);
        card.engine()
                .runUntil(
                        () ->
                                here.state() == RdmaConnection.State.CONNECTED
                                        && there.state() == RdmaConnection.State.CONNECTED,
                        Patience.LIMIT,
                        one,
                        other);
        return here;
    }

    @Test
    void shouldReachItsTargetOverTheNetworkAndLeaveNothing(SoftDpu card) {
        Device dpu = card.dpuDevice();
        Device target = card.targetDevice();
        List<Status> ended = new ArrayList<>();
        try (SharedMemory here = SharedMemory.allocate(SIZE);
                SharedMemory there = SharedMemory.allocate(SIZE);
                Mmap local = mmap(dpu, here, AccessFlag.LOCAL_READ_WRITE);
                Mmap exported = mmap(target, there, AccessFlag.RDMA_WRITE);
                Mmap remote = Mmap.createFromExport(exported.exportRdma(target), dpu);
                BufInventory inventory = BufInventory.create(2).start();
                Rdma writer = Rdma.create(dpu);
                Rdma written = Rdma.create(target)) {
            here.segment().fill((byte) 0x17);
            writer.setWriteTasks(
                    1, task -> ended.add(task.status()), task -> ended.add(task.status()));
            written.setPermissions(Permissions.of(AccessFlag.RDMA_WRITE));
            written.setConnectionCallback((connection, before, now) -> {});
            RdmaConnection connection = connect(card, writer, written);
            assertThat(connection.provider()).isEqualTo("roce");

            Buf source = inventory.bufByData(local, 0, SIZE);
            Buf destination = inventory.bufByAddress(remote, 0, SIZE);
            RdmaWriteTask task = writer.allocateWrite(connection, source, destination);
            task.submit();
            card.engine().runUntil(() -> !ended.isEmpty(), Patience.LIMIT, writer, written);
            task.free();
            source.release();
            destination.release();

            assertThat(ended).containsExactly(Status.SUCCESS);
            assertThat(here.segment().mismatch(there.segment())).isEqualTo(-1);
            card.engine().stop(writer, Patience.LIMIT);
            card.engine().stop(written, Patience.LIMIT);
        }
    }
}
