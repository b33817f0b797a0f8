package example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyTask;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** DMA on the DPU, from memory of the host. */
@SoftDpuTest
class CopyTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final int SIZE = 1 << 20;

    @Test
    void shouldCopyMemoryOfTheHost(SoftDpu card) {
        Device host = card.hostDevice();
        Device dpu = card.dpuDevice();
        List<Status> ended = new ArrayList<>();
        try (SharedMemory hostMemory = SharedMemory.allocate(SIZE);
                SharedMemory dpuMemory = SharedMemory.allocate(SIZE);
                Mmap exported = mmap(host, hostMemory, AccessFlag.PCI_READ_ONLY);
                Mmap imported = Mmap.createFromExport(exported.exportPci(host), dpu);
                Mmap local = mmap(dpu, dpuMemory, AccessFlag.LOCAL_READ_WRITE);
                BufInventory inventory = BufInventory.create(2).start();
                Dma dma = Dma.create(dpu)) {
            hostMemory.segment().fill((byte) 0x5a);
            dma.setMemcpyTasks(
                    1, task -> ended.add(task.status()), task -> ended.add(task.status()));
            card.engine().start(dma, TIMEOUT);

            Buf source = inventory.bufByData(imported, 0, SIZE);
            Buf destination = inventory.bufByAddress(local, 0, SIZE);
            DmaMemcpyTask task = dma.allocateMemcpy(source, destination);
            task.submit();
            card.engine().runUntil(() -> !ended.isEmpty(), TIMEOUT, dma);
            task.free();
            source.release();
            destination.release();

            assertEquals(List.of(Status.SUCCESS), ended);
            assertEquals(-1, hostMemory.segment().mismatch(dpuMemory.segment()));
        }
    }

    private static Mmap mmap(Device device, SharedMemory memory, AccessFlag access) {
        return Mmap.create()
                .setMemory(memory)
                .setPermissions(Permissions.of(AccessFlag.LOCAL_READ_WRITE, access))
                .addDevice(device)
                .start();
    }
}
