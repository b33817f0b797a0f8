package gettingstarted;

import static io.softdpu.core.memory.AccessFlag.LOCAL_READ_WRITE;
import static io.softdpu.core.memory.AccessFlag.RDMA_WRITE;
import static io.softdpu.rdma.RdmaConnection.State.DISCONNECTED;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaWriteTask;
import java.time.Duration;

/** RDMA write: "writer" on the DPU connects to "target", which accepts with an export of memory. */
public final class RdmaWrite {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Duration WAIT_FOR_PEER = Duration.ofMinutes(5);
    private static final int SIZE_BYTES = 4096;
    private static final int PORT = 13579;

    public static void main(String[] arguments) {
        switch (arguments[0]) {
            case "target" -> target();
            default -> write(RdmaAddress.of(RdmaAddress.Type.IPV4, arguments[1], PORT));
        }
    }

    private static void target() {
        RdmaConnection[] accepted = new RdmaConnection[1];
        try (Machine machine = Machine.open(Side.TARGET);
                Device device = machine.findDevice("t0").open();
                SharedMemory memory = SharedMemory.allocate(SIZE_BYTES);
                Mmap mmap = mmap(memory, device);
                ProgressEngine engine = ProgressEngine.create();
                Rdma rdma = Rdma.create(device)) {
            byte[] export = mmap.exportRdma(device);
            rdma.setPermissions(Permissions.of(RDMA_WRITE))
                    .setConnectionRequestCallback(request -> accepted[0] = request.accept(export));
            engine.connect(rdma);
            rdma.start();
            rdma.listen(PORT);
            System.out.println("listening: address=" + device.info().ipv4().getHostAddress());
            engine.start(rdma, WAIT_FOR_PEER); // until a peer is connected
            engine.runUntil(() -> accepted[0].state() == DISCONNECTED, TIMEOUT, rdma);
            System.out.println("in this memory now: " + memory.segment().getString(0));
        }
    }

    private static void write(RdmaAddress target) {
        try (Machine machine = Machine.open(Side.DPU);
                Device device = machine.findDevice("03:00.0").open();
                SharedMemory memory = SharedMemory.allocate(SIZE_BYTES);
                Mmap local = mmap(memory, device);
                BufInventory inventory = BufInventory.create(2).start();
                ProgressEngine engine = ProgressEngine.create();
                Rdma rdma = Rdma.create(device)) {
            rdma.setWriteTasks(1, task -> {}, task -> {});
            engine.connect(rdma);
            rdma.start();
            RdmaConnection connection = rdma.connect(target, new byte[0]);
            engine.start(rdma, TIMEOUT); // until it is connected; throws NOT_FOUND without a target
            try (Mmap remote = Mmap.createFromExport(connection.peerPrivateData(), device)) {
                memory.segment().setString(0, "written by RDMA");
                Buf source = inventory.bufByData(local, 0, SIZE_BYTES);
                Buf destination = inventory.bufByAddress(remote, 0, SIZE_BYTES);
                RdmaWriteTask task = rdma.allocateWrite(connection, source, destination);
                task.submit();
                engine.runUntil(() -> rdma.inFlightTasks() == 0, TIMEOUT, rdma);
                Status status = task.status();
                task.free();
                source.release();
                destination.release();
                if (status != Status.SUCCESS) {
                    throw new IllegalStateException("write failed: status=" + status);
                }
                System.out.println("write: " + status);
            }
        }
    }

    private static Mmap mmap(SharedMemory memory, Device device) {
        return Mmap.create().setMemory(memory).addDevice(device)
                .setPermissions(Permissions.of(LOCAL_READ_WRITE, RDMA_WRITE)).start();
    }
}
