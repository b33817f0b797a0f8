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
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaWriteTask;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** RDMA write: "writer" on the DPU writes into memory of "target"; blobs travel over TCP. */
public final class RdmaWrite {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int SIZE_BYTES = 4096;

    public static void main(String[] arguments) throws IOException {
        switch (arguments[0]) {
            case "target" -> target(Path.of(arguments[1]));
            default -> write(Integer.parseInt(Files.readString(Path.of(arguments[1]))));
        }
    }

    private static void target(Path portFile) throws IOException {
        try (Machine machine = Machine.open(Side.TARGET);
                Device device = machine.findDevice("t0").open();
                SharedMemory memory = SharedMemory.allocate(SIZE_BYTES);
                Mmap mmap = mmap(memory, device);
                ProgressEngine engine = ProgressEngine.create();
                Rdma rdma = Rdma.create(device);
                ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            // An instance without tasks needs a callback: there has to be some event.
            rdma.setPermissions(Permissions.of(RDMA_WRITE)).setConnectionCallback((_, _, _) -> {});
            Files.writeString(portFile, Integer.toString(listener.getLocalPort()));
            System.out.println("listening: port=" + listener.getLocalPort());
            try (Socket peer = listener.accept()) {
                send(peer, mmap.exportRdma(device));
                RdmaConnection connection = connect(engine, rdma, peer);
                engine.runUntil(() -> connection.state() == DISCONNECTED, TIMEOUT, rdma);
                System.out.println("in this memory now: " + memory.segment().getString(0));
            }
        }
    }

    private static void write(int port) throws IOException {
        try (Socket peer = new Socket(InetAddress.getLoopbackAddress(), port);
                Machine machine = Machine.open(Side.DPU);
                Device device = machine.findDevice("03:00.0").open();
                SharedMemory memory = SharedMemory.allocate(SIZE_BYTES);
                Mmap local = mmap(memory, device);
                Mmap remote = Mmap.createFromExport(receive(peer), device);
                BufInventory inventory = BufInventory.create(2).start();
                ProgressEngine engine = ProgressEngine.create();
                Rdma rdma = Rdma.create(device)) {
            rdma.setWriteTasks(1, task -> {}, task -> {});
            RdmaConnection connection = connect(engine, rdma, peer);
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

    private static Mmap mmap(SharedMemory memory, Device device) {
        return Mmap.create().setMemory(memory).addDevice(device)
                .setPermissions(Permissions.of(LOCAL_READ_WRITE, RDMA_WRITE)).start();
    }

    private static RdmaConnection connect(ProgressEngine engine, Rdma rdma, Socket peer)
            throws IOException {
        engine.connect(rdma);
        rdma.start();
        RdmaConnection connection = rdma.exportConnection();
        send(peer, connection.blob());
        rdma.connect(receive(peer), connection);
        engine.start(rdma, TIMEOUT); // waits for the connection
        return connection;
    }

    private static void send(Socket peer, byte[] blob) throws IOException {
        DataOutputStream out = new DataOutputStream(peer.getOutputStream());
        out.writeInt(blob.length);
        out.write(blob);
    }

    private static byte[] receive(Socket peer) throws IOException {
        DataInputStream in = new DataInputStream(peer.getInputStream());
        return in.readNBytes(in.readInt());
    }
}
