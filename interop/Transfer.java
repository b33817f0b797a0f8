import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.topology.json.TopologyJson;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.SequencedMap;
import java.util.SplittableRandom;

/**
 * One of two processes that transfer random data to each other at the same time: {@code Transfer
 * listen|connect TOPOLOGY DEVICE ADDRESS PORT write|read|send BYTES}. They exchange descriptors, and
 * tell each other of the begin and the end of each round, over TCP, which one of them listens for at
 * the address. At the end it prints a line: {@code sent=SHA256 received=SHA256 retransmissions=N
 * timeouts=N bad_icrc=N}. An error ends it with a stack trace, and exit code 1.
 */
public final class Transfer {
    private static final String PROVIDER = "roce";
    private static final int MESSAGE_BYTES = 64 << 10;
    private static final int MESSAGES = 256; // of a round
    private static final int ROUND_BYTES = MESSAGES * MESSAGE_BYTES;
    private static final int IN_FLIGHT = 32;
    private static final int PATH_MTU = 4096;
    private static final Duration TIMEOUT = Duration.ofMinutes(10); // of a round

    private final String operation;
    private final SplittableRandom random;
    private final MemorySegment memory;
    private final Mmap mmap;
    private final BufInventory inventory;
    private final Rdma rdma;
    private final DataInputStream in;
    private final DataOutputStream out;
    private RdmaConnection connection;
    private Mmap theirs;
    private int received;
    private int completed;

    private Transfer(
            String operation,
            Socket socket,
            MemorySegment memory,
            Mmap mmap,
            BufInventory inventory,
            Rdma rdma,
            long seed)
            throws IOException {
        this.operation = operation;
        this.memory = memory;
        this.mmap = mmap;
        this.inventory = inventory;
        this.rdma = rdma;
        random = new SplittableRandom(seed);
        in = new DataInputStream(socket.getInputStream());
        out = new DataOutputStream(socket.getOutputStream());
    }

    /** Runs one of the two. */
    public static void main(String[] args) throws IOException {
        boolean listens = args[0].equals("listen");
        long bytes = Long.parseLong(args[6]);
        try (Socket socket = open(listens, args[3], Integer.parseInt(args[4]));
                Machine machine =
                        Machine.builder(Side.TARGET)
                                .topology(TopologyJson.read(Path.of(args[1])))
                                .open();
                Device device = machine.findDevice(args[2]).open();
                SharedMemory memory = SharedMemory.allocate(2L * ROUND_BYTES);
                Mmap mmap = Mmap.create();
                ProgressEngine engine = ProgressEngine.create();
                BufInventory inventory =
                        BufInventory.create(MESSAGES + 2 * IN_FLIGHT).start();
                Rdma rdma = Rdma.create(device)) {
            mmap.setMemory(memory)
                    .setPermissions(
                            Permissions.of(
                                    AccessFlag.LOCAL_READ_WRITE,
                                    AccessFlag.RDMA_READ,
                                    AccessFlag.RDMA_WRITE))
                    .addDevice(device)
                    .start();
            new Transfer(
                            args[5],
                            socket,
                            memory.segment(),
                            mmap,
                            inventory,
                            rdma,
                            listens ? 1 : 2)
                    .run(device, engine, bytes);
        }
    }

    private static Socket open(boolean listens, String address, int port) throws IOException {
        Socket socket;
        InetAddress at = InetAddress.ofLiteral(address);
        if (listens) {
            try (ServerSocket server = new ServerSocket(port, 1, at)) {
                System.out.println("listening");
                socket = server.accept();
            }
        } else {
            socket = new Socket(at, port);
        }
        socket.setSoTimeout((int) TIMEOUT.toMillis());
        socket.setTcpNoDelay(true);
        return socket;
    }

    private void run(Device device, ProgressEngine engine, long bytes) throws IOException {
        rdma.setProvider(PROVIDER)
                .setPathMtuBytes(PATH_MTU)
                .setPermissions(Permissions.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE))
                .setSendQueueSize(IN_FLIGHT)
                .setReceiveQueueSize(MESSAGES)
                .setWriteTasks(IN_FLIGHT, this::writeEnded, this::failed)
                .setReadTasks(IN_FLIGHT, this::readEnded, this::failed)
                .setSendTasks(IN_FLIGHT, this::sendEnded, this::failed)
                .setReceiveTasks(MESSAGES, this::receiveEnded, this::receiveFailed);
        engine.connect(rdma);
        rdma.start();
        connection = rdma.exportConnection();
        exchange(mmap.exportRdma(device), connection.blob());
        byte[] memoryBlob = block();
        rdma.connect(block(), connection);
        engine.start(rdma, TIMEOUT);
        theirs = Mmap.createFromExport(memoryBlob, device);
        MessageDigest sent = sha256();
        MessageDigest got = sha256();
        int messages = 0;
        for (long left = bytes; left > 0; left -= (long) messages * MESSAGE_BYTES) {
            messages = (int) Math.min(MESSAGES, left / MESSAGE_BYTES);
            round(engine, messages);
            long size = (long) messages * MESSAGE_BYTES;
            sent.update(memory.asSlice(0, size).asByteBuffer());
            got.update(memory.asSlice(ROUND_BYTES, size).asByteBuffer());
        }
        SequencedMap<String, Long> counters = connection.counters();
        HexFormat hex = HexFormat.of();
        System.out.println(
                "sent="
                        + hex.formatHex(sent.digest())
                        + " received="
                        + hex.formatHex(got.digest())
                        + " retransmissions="
                        + counters.get("retransmissions")
                        + " timeouts="
                        + counters.get("timeouts")
                        + " bad_icrc="
                        + counters.get("bad_icrc"));
        meet(); // else an end would be seen while the other still transfers
        theirs.close();
        connection.disconnect();
        engine.stop(rdma, TIMEOUT);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has it", e);
        }
    }

    /** Transfers this number of messages each way. */
    private void round(ProgressEngine engine, int messages) throws IOException {
        for (long at = 0; at < (long) messages * MESSAGE_BYTES; at += Long.BYTES) {
            memory.set(ValueLayout.JAVA_LONG, at, random.nextLong());
        }
        memory.asSlice(ROUND_BYTES).fill((byte) 0);
        completed = 0;
        boolean sends = operation.equals("send");
        received = sends ? 0 : messages;
        for (int i = 0; sends && i < messages; i++) {
            rdma.allocateReceive(to(mmap, i)).submit();
        }
        meet();
        for (int i = 0; i < messages; i++) {
            int ahead = i - IN_FLIGHT;
            engine.runUntil(() -> completed > ahead, TIMEOUT, rdma);
            submit(i);
        }
        engine.runUntil(() -> completed == messages && received == messages, TIMEOUT, rdma);
        meet();
    }

    private void submit(int i) {
        switch (operation) {
            case "write" -> rdma.allocateWrite(connection, from(mmap, i), to(theirs, i)).submit();
            case "read" -> rdma.allocateRead(connection, from(theirs, i), to(mmap, i)).submit();
            case "send" -> rdma.allocateSend(connection, from(mmap, i)).submit();
            default -> throw new IllegalArgumentException("no operation: " + operation);
        }
    }

    private Buf from(Mmap source, int i) {
        return inventory.bufByData(source, (long) i * MESSAGE_BYTES, MESSAGE_BYTES);
    }

    private Buf to(Mmap destination, int i) {
        return inventory.bufByAddress(
                destination, ROUND_BYTES + (long) i * MESSAGE_BYTES, MESSAGE_BYTES);
    }

    private void writeEnded(io.softdpu.rdma.RdmaWriteTask task) {
        ended(task, task.source(), task.destination());
    }

    private void readEnded(io.softdpu.rdma.RdmaReadTask task) {
        ended(task, task.source(), task.destination());
    }

    private void sendEnded(io.softdpu.rdma.RdmaSendTask task) {
        ended(task, task.source());
    }

    private void ended(Task task, Buf... bufs) {
        completed++;
        free(task, bufs);
    }

    private void receiveEnded(io.softdpu.rdma.RdmaReceiveTask task) {
        if (task.resultLength() != MESSAGE_BYTES) {
            throw new IllegalStateException("another length: " + task.resultLength());
        }
        received++;
        free(task, task.destination());
    }

    private static void free(Task task, Buf... bufs) {
        task.free();
        for (Buf each : bufs) {
            each.release();
        }
    }

    private void failed(Task task) {
        throw new DpuException(task.status(), "operation has failed: reason=" + reason());
    }

    private void receiveFailed(Task task) {
        if (task.status() != Status.CONNECTION_ABORTED) {
            throw new DpuException(task.status(), "receive has failed: reason=" + reason());
        }
    }

    private String reason() {
        return connection.failureReason();
    }

    private void exchange(byte[]... blocks) throws IOException {
        for (byte[] each : blocks) {
            out.writeInt(each.length);
            out.write(each);
        }
        out.flush();
    }

    private byte[] block() throws IOException {
        byte[] block = new byte[in.readInt()];
        in.readFully(block);
        return block;
    }

    /** Waits until the other has come to the same place. */
    private void meet() throws IOException {
        out.writeByte(0);
        out.flush();
        in.readByte();
    }
}
