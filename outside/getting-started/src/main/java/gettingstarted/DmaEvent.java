package gettingstarted;

import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyTask;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import java.time.Duration;

/** A DMA copy in event mode: the engine's thread sleeps until there is work. */
public final class DmaEvent {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    public static void main(String[] arguments) {
        boolean[] done = {false};
        try (Machine machine = Machine.open(Side.DPU);
                Device device = machine.findDevice("03:00.0").open();
                SharedMemory memory = SharedMemory.allocate(2 << 20);
                Mmap mmap =
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(Permissions.of(AccessFlag.LOCAL_READ_WRITE))
                                .addDevice(device)
                                .start();
                BufInventory inventory = BufInventory.create(2).start();
                ProgressEngine engine = ProgressEngine.create();
                Dma dma = Dma.create(device)) {
            memory.segment().setString(0, "copied by DMA");
            dma.setMemcpyTasks(1, task -> done[0] = true, task -> done[0] = true);
            engine.start(dma, TIMEOUT);
            Buf source = inventory.bufByData(mmap, 0, 1 << 20);
            Buf destination = inventory.bufByAddress(mmap, 1 << 20, 1 << 20);
            DmaMemcpyTask task = dma.allocateMemcpy(source, destination);
            task.submit();
            while (!done[0]) {
                engine.requestNotification();
                if (!engine.awaitNotification(TIMEOUT)) {
                    throw new IllegalStateException("no end of the copy: timeout=" + TIMEOUT);
                }
                engine.clearNotification();
                while (engine.progress()) {}
            }
            Status status = task.status();
            task.free();
            source.release();
            destination.release();
            if (status != Status.SUCCESS) {
                throw new IllegalStateException("copy failed: status=" + status);
            }
            System.out.println(status + ": " + memory.segment().getString(1 << 20));
        }
    }
}
