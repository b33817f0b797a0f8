package outside;

import io.softdpu.comch.ComchCapabilities;
import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyTask;
import io.softdpu.core.device.Machine;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.topology.json.TopologyJson;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Copies memory of the host by DMA on the DPU, both sides in this one process. The argument is the fabric folder.
 */
public final class Main {
    private static final int SIZE_BYTES = 1 << 20;

    private Main() {}

    /** Prints what it has done, and fails if the copy is wrong. */
    public static void main(String[] arguments) {
        Topology topology = TopologyJson.shipped("storage-guide");
        Path folder = Path.of(arguments[0]);
        System.out.println("topology " + topology);
        System.out.println("libraries " + Capabilities.libraries());
        try (Machine host =
                        Machine.builder(Side.HOST).topology(topology).fabricFolder(folder).open();
                Machine dpu =
                        Machine.builder(Side.DPU).topology(topology).fabricFolder(folder).open();
                Device pf0 = host.findDevice("3b:00.0").open();
                Device p0 = dpu.findDevice("03:00.0").open()) {
            System.out.println("host " + host.devices() + ", dpu " + dpu.devices());
            System.out.println(
                    "messages of up to "
                            + ComchCapabilities.of(p0.info()).maxMessageSize()
                            + " bytes, copies of up to "
                            + Capabilities.of(p0.info(), "dma").limit("max_buffer_size"));
            copy(pf0, p0);
        }
    }

    private static void copy(Device pf0, Device p0) {
        try (SharedMemory hostMemory = SharedMemory.allocate(SIZE_BYTES);
                SharedMemory dpuMemory = SharedMemory.allocate(SIZE_BYTES);
                Mmap exported = mmap(hostMemory, pf0, AccessFlag.PCI_READ_ONLY);
                Mmap imported = Mmap.createFromExport(exported.exportPci(pf0), p0);
                Mmap local = mmap(dpuMemory, p0, AccessFlag.LOCAL_READ_WRITE);
                BufInventory inventory = BufInventory.create(2).start()) {
            for (int i = 0; i < SIZE_BYTES; i++) {
                hostMemory.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
            }
            Buf source = inventory.bufByData(imported, 0, SIZE_BYTES);
            Buf destination = inventory.bufByAddress(local, 0, SIZE_BYTES);
            Status status = run(p0, source, destination);
            long different = hostMemory.segment().mismatch(dpuMemory.segment());
            System.out.println(
                    "copied "
                            + destination.dataLength()
                            + " bytes by DMA: "
                            + status
                            + (different < 0 ? ", equal" : ", differ at " + different));
            source.release();
            destination.release();
            if (status != Status.SUCCESS || different >= 0) {
                throw new IllegalStateException("the copy is wrong");
            }
        }
    }

    private static Mmap mmap(SharedMemory memory, Device device, AccessFlag access) {
        return Mmap.create()
                .setMemory(memory)
                .setPermissions(Permissions.of(AccessFlag.LOCAL_READ_WRITE, access))
                .addDevice(device)
                .start();
    }

    private static Status run(Device device, Buf source, Buf destination) {
        Status[] ended = {Status.IN_PROGRESS};
        try (ProgressEngine engine = ProgressEngine.create();
                Dma dma = Dma.create(device)) {
            dma.setMemcpyTasks(1, task -> ended[0] = end(task), task -> ended[0] = end(task));
            engine.connect(dma);
            dma.start();
            dma.allocateMemcpy(source, destination).submit();
            Deadline deadline = Deadline.in(Duration.ofSeconds(60));
            while (ended[0] == Status.IN_PROGRESS || dma.state() != ContextState.IDLE) {
                deadline.check("end of the copy");
                engine.await(deadline);
                if (ended[0] != Status.IN_PROGRESS && dma.state() == ContextState.RUNNING) {
                    dma.stop();
                }
            }
        }
        return ended[0];
    }

    private static Status end(DmaMemcpyTask task) {
        Status status = task.status();
        task.free();
        return status;
    }
}
