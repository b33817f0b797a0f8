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
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.roce.RoceMemory;
import io.softdpu.rdma.roce.RoceQueuePair;
import io.softdpu.topology.json.TopologyJson;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Connections by parameters to verbs-peer.c, in the guest: {@code LinuxCells TOPOLOGY DEVICE PORT
 * ADDRESS4 GIDINDEX4 ADDRESS6 GIDINDEX6 operations|errors|large|short}. Each cell has a connection of
 * its own. Prints a line per cell, as {@code linux-roce.sh} does; exit code 1 if one has FAILED.
 */
public final class LinuxCells {
    private static final String PROVIDER = "roce";
    private static final Duration TIMEOUT = Duration.ofSeconds(40);
    private static final int SMALL = 1 << 20; // of the memory of either side: sources, then destinations
    private static final int LARGE = 64 << 20;
    private static final int READ_LIMIT = 16;
    private static final int IMMEDIATE = 0xcafe1234;
    private static final int PSN = 0xfffffe; // wraps with the third packet
    private static final int RETRIES = 5;
    private static final int RNR_UNLIMITED = 7;

    /** Rights of the verbs: write, read, atomic. */
    private static final int ALL_RIGHTS = 2 | 4 | 8;

    private static final Permissions ALL =
            Permissions.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE, AccessFlag.RDMA_ATOMIC);

    // Of enum ibv_wc_status.
    private static final int SUCCESS = 0;
    private static final int LOCAL_OPERATION = 2; // of a receive that was too short
    private static final int REMOTE_ACCESS = 10;
    private static final int REMOTE_OPERATION = 11;
    private static final int RNR_RETRIES_EXCEEDED = 13;

    /** In the order of {@code enum ibv_wr_opcode}. */
    private enum Operation {
        WRITE,
        WRITE_IMM,
        SEND,
        SEND_IMM,
        READ,
        CMP_SWAP,
        FETCH_ADD;

        boolean isAtomic() {
            return this == CMP_SWAP || this == FETCH_ADD;
        }

        boolean needsReceive() {
            return this == WRITE_IMM || this == SEND || this == SEND_IMM;
        }

        boolean hasImmediate() {
            return this == WRITE_IMM || this == SEND_IMM;
        }
    }

    private record Family(int version, InetAddress guest, int gidIndex) {}

    /** Steps of a cell; throws if it finds something else than it should. */
    private interface Cell {
        void run(Ends ends) throws IOException;
    }

    private final Device device;
    private final Peer peer;
    private int cells;
    private int failures;

    private LinuxCells(Device device, Peer peer) {
        this.device = device;
        this.peer = peer;
    }

    /** Runs the cells of one kind. */
    public static void main(String[] args) throws IOException {
        List<Family> families =
                List.of(
                        new Family(4, InetAddress.ofLiteral(args[3]), Integer.parseInt(args[4])),
                        new Family(6, InetAddress.ofLiteral(args[5]), Integer.parseInt(args[6])));
        int failures;
        try (Peer peer = new Peer(families.getFirst().guest(), Integer.parseInt(args[2]));
                Machine machine =
                        Machine.builder(Side.TARGET)
                                .topology(TopologyJson.read(Path.of(args[0])))
                                .open();
                Device device = machine.findDevice(args[1]).open()) {
            LinuxCells cells = new LinuxCells(device, peer);
            for (Family family : families) {
                cells.runAll(args[7], family);
            }
            failures = cells.failures;
        }
        System.exit(failures == 0 ? 0 : 1);
    }

    private void runAll(String kind, Family family) {
        switch (kind) {
            case "operations" -> {
                operations(family, 1024, 0, 61, 10_000);
                operations(family, 4096, 0, 61, 10_000);
                pipelines(family);
            }
            case "short" -> operations(family, 1024, 61);
            case "errors" -> errors(family);
            case "large" -> {
                long size = Long.getLong("size", LARGE);
                for (Operation each : List.of(Operation.WRITE, Operation.READ, Operation.SEND)) {
                    operation(family, 4096, each, (int) size);
                }
            }
            default -> throw new IllegalArgumentException("no kind: " + kind);
        }
    }

    private void operations(Family family, int mtu, int... sizes) {
        for (Operation each : Operation.values()) {
            if (each.isAtomic()) {
                operation(family, mtu, each, Long.BYTES);
            } else {
                for (int size : sizes) {
                    operation(family, mtu, each, size);
                }
            }
        }
    }

    private void operation(Family family, int mtu, Operation operation, int size) {
        String text = operation + ", sizeBytes=" + size;
        int memory = 2 * Math.max(size, SMALL / 2);
        cell(text + ", we request", family, mtu, memory, ends -> requested(ends, operation, size));
        cell(text + ", Linux requests", family, mtu, memory, ends -> served(ends, operation, size));
    }

    /** Our request, of the peer's memory or for its receive. */
    private static void requested(Ends ends, Operation operation, int size) throws IOException {
        ends.connect(ALL_RIGHTS, ALL, RNR_UNLIMITED);
        Peer peer = ends.peer;
        long half = ends.half();
        if (operation.isAtomic()) {
            peer.ask("put " + half + " 41");
            ends.submit(operation, 8);
            ends.awaitTask(Status.SUCCESS);
            equal("value before", 41, ends.word(half));
            equal("value", operation == Operation.CMP_SWAP ? 42 : 46, peer.number("get " + half));
            return;
        }
        if (operation.needsReceive()) {
            peer.ask("receive " + half + " " + size);
        }
        if (operation == Operation.READ) {
            peer.ask("fill 0 " + size + " " + ends.seed);
        } else {
            ends.fill(0, size);
        }
        ends.submit(operation, size);
        ends.awaitTask(Status.SUCCESS);
        if (operation == Operation.READ) {
            equal("byte that differs", -1, ends.compare(half, size));
            return;
        }
        if (operation.needsReceive()) {
            peer.expectCompletion(SUCCESS, size, operation.hasImmediate() ? IMMEDIATE : 0);
        }
        equal("byte that differs", -1, peer.number("compare " + half + " " + size + " " + ends.seed));
    }

    /** A request of the peer, of our memory or for our receive. */
    private static void served(Ends ends, Operation operation, int size) throws IOException {
        ends.connect(ALL_RIGHTS, ALL, RNR_UNLIMITED);
        Peer peer = ends.peer;
        long half = ends.half();
        if (operation.isAtomic()) {
            ends.setWord(half, 41);
            ends.post(operation, size, 0);
            peer.expectCompletion(SUCCESS);
            equal("value before", 41, peer.number("get 0"));
            equal("value", operation == Operation.CMP_SWAP ? 42 : 46, ends.word(half));
            return;
        }
        if (operation.needsReceive()) {
            ends.receive(size);
        }
        if (operation == Operation.READ) {
            ends.fill(half, size);
        } else {
            peer.ask("fill 0 " + size + " " + ends.seed);
        }
        ends.post(operation, size, 0);
        peer.expectCompletion(SUCCESS);
        if (operation == Operation.READ) {
            equal("byte that differs", -1, peer.number("compare 0 " + size + " " + ends.seed));
            return;
        }
        if (operation.needsReceive()) {
            ends.awaitTask(Status.SUCCESS);
            equal("length", size, ends.receivedBytes);
            equal("immediate", operation.hasImmediate() ? IMMEDIATE : 0, ends.receivedImmediate);
        }
        equal("byte that differs", -1, ends.compare(half, size));
    }

    /** Requests that are in flight together. */
    private void pipelines(Family family) {
        int size = 5000;
        cell("16 reads in flight, we request", family, 1024, SMALL, ends -> {
            ends.connect(ALL_RIGHTS, ALL, RNR_UNLIMITED);
            peer.ask("fill 0 " + size + " " + ends.seed);
            for (int i = 0; i < 16; i++) {
                ends.submit(Operation.READ, size);
            }
            for (int i = 0; i < 16; i++) {
                ends.awaitTask(Status.SUCCESS);
            }
            equal("byte that differs", -1, ends.compare(ends.half(), size));
        });
        cell("16 reads in flight, Linux requests", family, 1024, SMALL, ends -> {
            ends.connect(ALL_RIGHTS, ALL, RNR_UNLIMITED);
            ends.fill(ends.half(), size);
            for (int i = 0; i < 16; i++) {
                ends.post(Operation.READ, size, 0);
            }
            for (int i = 0; i < 16; i++) {
                peer.expectCompletion(SUCCESS);
            }
            equal("byte that differs", -1, peer.number("compare 0 " + size + " " + ends.seed));
        });
        List<Operation> mixed =
                List.of(
                        Operation.READ, Operation.WRITE, Operation.FETCH_ADD, Operation.WRITE,
                        Operation.READ, Operation.FETCH_ADD, Operation.WRITE);
        cell("writes between reads and atomics, we request", family, 1024, SMALL, ends -> {
            ends.connect(ALL_RIGHTS, ALL, RNR_UNLIMITED);
            for (Operation each : mixed) {
                ends.submit(each, each.isAtomic() ? 8 : size);
            }
            for (Operation _ : mixed) {
                ends.awaitTask(Status.SUCCESS);
            }
        });
        cell("writes between reads and atomics, Linux requests", family, 1024, SMALL, ends -> {
            ends.connect(ALL_RIGHTS, ALL, RNR_UNLIMITED);
            for (Operation each : mixed) {
                ends.post(each, each.isAtomic() ? 8 : size, 0);
            }
            for (Operation _ : mixed) {
                peer.expectCompletion(SUCCESS);
            }
        });
    }

    private void errors(Family family) {
        int size = 5000;
        for (Operation each : List.of(Operation.WRITE, Operation.READ, Operation.FETCH_ADD)) {
            int length = each.isAtomic() ? 8 : size;
            cell(each + " with a wrong key, we request", family, 1024, SMALL, ends -> {
                ends.keyError = 0x5500;
                ends.connect(ALL_RIGHTS, ALL, RNR_UNLIMITED);
                ends.submit(each, length);
                ends.awaitTask(Status.NOT_PERMITTED);
            });
            cell(each + " with a wrong key, Linux requests", family, 1024, SMALL, ends -> {
                ends.connect(ALL_RIGHTS, ALL, RNR_UNLIMITED);
                ends.post(each, length, 0x5500);
                peer.expectCompletion(REMOTE_ACCESS);
                ends.awaitEnd(Status.NOT_PERMITTED);
            });
            int others = each == Operation.READ ? 2 : 4; // without any, memory has no key
            cell(each + " without the memory's right, we request", family, 1024, SMALL, ends -> {
                ends.memoryRights = others;
                ends.connect(ALL_RIGHTS, ALL, RNR_UNLIMITED);
                ends.submit(each, length);
                ends.awaitTask(Status.NOT_PERMITTED);
            });
            // Linux calls that an invalid request.
            cell(each + " without the queue pair's right, we request", family, 1024, SMALL, ends -> {
                ends.connect(others, ALL, RNR_UNLIMITED);
                ends.submit(each, length);
                ends.awaitTask(Status.UNEXPECTED);
            });
            cell(each + " without the right, Linux requests", family, 1024, SMALL, ends -> {
                Permissions other =
                        Permissions.of(
                                each == Operation.READ
                                        ? AccessFlag.RDMA_WRITE
                                        : AccessFlag.RDMA_READ);
                ends.connect(ALL_RIGHTS, other, RNR_UNLIMITED);
                ends.post(each, length, 0);
                peer.expectCompletion(REMOTE_ACCESS);
                ends.awaitEnd(Status.NOT_PERMITTED);
            });
        }
        cell("SEND before its receive, we request", family, 1024, SMALL, ends -> {
            ends.connect(ALL_RIGHTS, ALL, RNR_UNLIMITED);
            ends.fill(0, size);
            ends.submit(Operation.SEND, size);
            ends.progressFor(Duration.ofMillis(300));
            peer.ask("receive " + ends.half() + " " + size);
            ends.awaitTask(Status.SUCCESS);
            peer.expectCompletion(SUCCESS, size, 0);
            equal("byte that differs", -1, peer.number("compare " + ends.half() + " " + size + " " + ends.seed));
        });
        cell("SEND before its receive, Linux requests", family, 1024, SMALL, ends -> {
            ends.connect(ALL_RIGHTS, ALL, RNR_UNLIMITED);
            peer.ask("fill 0 " + size + " " + ends.seed);
            ends.post(Operation.SEND, size, 0);
            ends.progressFor(Duration.ofMillis(300));
            ends.receive(size);
            peer.expectCompletion(SUCCESS);
            ends.awaitTask(Status.SUCCESS);
            equal("byte that differs", -1, ends.compare(ends.half(), size));
        });
        cell("SEND without a receive, we request", family, 1024, SMALL, ends -> {
            ends.rnrRetries = 1;
            ends.connect(ALL_RIGHTS, ALL, RNR_UNLIMITED);
            ends.submit(Operation.SEND, size);
            ends.awaitTask(Status.IO_FAILED);
        });
        cell("SEND without a receive, Linux requests", family, 1024, SMALL, ends -> {
            ends.connect(ALL_RIGHTS, ALL, 1);
            ends.post(Operation.SEND, size, 0);
            peer.expectCompletion(RNR_RETRIES_EXCEEDED);
        });
        cell("SEND longer than its receive, we request", family, 1024, SMALL, ends -> {
            ends.connect(ALL_RIGHTS, ALL, RNR_UNLIMITED);
            peer.ask("receive " + ends.half() + " 100");
            ends.submit(Operation.SEND, size);
            ends.awaitTask(Status.IO_FAILED);
            peer.expectCompletion(LOCAL_OPERATION);
        });
        cell("SEND longer than its receive, Linux requests", family, 1024, SMALL, ends -> {
            ends.connect(ALL_RIGHTS, ALL, RNR_UNLIMITED);
            ends.receive(100);
            ends.post(Operation.SEND, size, 0);
            peer.expectCompletion(REMOTE_OPERATION);
            ends.awaitTask(Status.TOO_BIG);
        });
    }

    private void cell(String what, Family family, int mtu, int memoryBytes, Cell cell) {
        String name = what + ", IPv" + family.version() + ", mtu=" + mtu;
        try (Ends ends = new Ends(device, peer, family, mtu, memoryBytes, ++cells)) {
            cell.run(ends);
            System.out.println("passed   " + name);
        } catch (IOException | RuntimeException e) {
            failures++;
            System.out.println("FAILED   " + name + ": reason=" + e.getMessage());
        }
    }

    private static void equal(String what, long expected, long actual) {
        if (expected != actual) {
            throw new IllegalStateException(
                    what + " is another: value=" + actual + ", expected=" + expected);
        }
    }

    private static byte pattern(long i, int seed) {
        return (byte) (seed * 131 + i * 7 + (i >> 8) * 13 + (i >> 16) * 29);
    }

    /** The program in the guest. */
    private static final class Peer implements AutoCloseable {
        private final Socket socket;
        private final BufferedReader in;
        private final OutputStream out;

        private Peer(InetAddress guest, int port) throws IOException {
            socket = new Socket(guest, port);
            socket.setSoTimeout((int) TIMEOUT.toMillis());
            socket.setTcpNoDelay(true);
            in =
                    new BufferedReader(
                            new InputStreamReader(
                                    socket.getInputStream(), StandardCharsets.US_ASCII));
            out = socket.getOutputStream();
        }

        /** The words behind ok. */
        private String[] ask(String line) throws IOException {
            out.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
            out.flush();
            String answer = in.readLine();
            if (answer == null || !answer.startsWith("ok")) {
                throw new IOException("peer cannot: line=" + line + ", answer=" + answer);
            }
            return answer.equals("ok") ? new String[0] : answer.substring(3).split(" ");
        }

        private long number(String line) throws IOException {
            return Long.parseUnsignedLong(ask(line)[0].replace("-1", "18446744073709551615"));
        }

        private String[] completion() throws IOException {
            String[] words = ask("wait " + TIMEOUT.toMillis() / 2);
            if (words[0].equals("none")) {
                throw new IOException("peer has no completion");
            }
            return words;
        }

        private void expectCompletion(int status) throws IOException {
            equal("status of Linux", status, Long.parseLong(completion()[0]));
        }

        private void expectCompletion(int status, int length, int immediate) throws IOException {
            String[] words = completion();
            equal("status of Linux", status, Long.parseLong(words[0]));
            equal("length of Linux", length, Long.parseLong(words[2]));
            equal(
                    "immediate of Linux",
                    Integer.toUnsignedLong(immediate),
                    Long.parseLong(words[3]));
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    /** Both ends of a cell's connection, and our resources. */
    private static final class Ends implements AutoCloseable {
        private final Device device;
        private final Peer peer;
        private final Family family;
        private final int mtu;
        private final int memoryBytes;
        private final int seed; // of the cell alone, so data of an earlier one is not taken for its own
        private final SharedMemory shared;
        private final MemorySegment memory;
        private final Mmap mmap = Mmap.create();
        private final ProgressEngine engine = ProgressEngine.create();
        private final BufInventory inventory = BufInventory.create(128).start();
        private final Rdma rdma;
        private final List<Buf> bufs = new ArrayList<>();
        private int rnrRetries = Rdma.RNR_RETRIES_UNLIMITED;
        private int keyError;
        private int memoryRights = ALL_RIGHTS;
        private RdmaConnection connection;
        private Mmap theirs;
        private RoceMemory ours;
        private int ended;
        private int expected;
        private Status status = Status.SUCCESS;
        private long receivedBytes;
        private int receivedImmediate;

        private Ends(
                Device device, Peer peer, Family family, int mtu, int memoryBytes, int seed) {
            this.device = device;
            this.peer = peer;
            this.family = family;
            this.mtu = mtu;
            this.memoryBytes = memoryBytes;
            this.seed = seed;
            shared = SharedMemory.allocate(memoryBytes);
            memory = shared.segment();
            rdma = Rdma.create(device);
        }

        private long half() {
            return memoryBytes / 2;
        }

        /** Connects both: rights of the peer's queue pair, ours, its RNR retries. */
        private void connect(int rights, Permissions granted, int rnrRetriesOfPeer)
                throws IOException {
            mmap.setMemory(shared)
                    .setPermissions(
                            Permissions.of(
                                    AccessFlag.LOCAL_READ_WRITE,
                                    AccessFlag.RDMA_READ,
                                    AccessFlag.RDMA_WRITE,
                                    AccessFlag.RDMA_ATOMIC))
                    .addDevice(device)
                    .start();
            ours = RoceMemory.of(mmap, device);
            List<InetAddress> addresses = RdmaCapabilities.of(device.info()).gidAddresses();
            int index = family.version() == 4 ? 0 : 1;
            rdma.setProvider(PROVIDER)
                    .setGidIndex(index)
                    .setPathMtuBytes(mtu)
                    .setPermissions(granted)
                    .setRnrRetries(rnrRetries)
                    .setRnrTimer(Duration.ofMillis(20))
                    .setWriteTasks(32, this::ended, this::ended)
                    .setWriteImmediateTasks(1, this::ended, this::ended)
                    .setSendTasks(1, this::ended, this::ended)
                    .setSendImmediateTasks(1, this::ended, this::ended)
                    .setReadTasks(32, this::ended, this::ended)
                    .setCompareAndSwapTasks(1, this::ended, this::ended)
                    .setFetchAndAddTasks(4, this::ended, this::ended)
                    .setReceiveTasks(4, this::received, this::received);
            engine.connect(rdma);
            rdma.start();
            connection = rdma.exportConnection();
            RoceQueuePair own = RoceQueuePair.of(connection);
            String[] opened =
                    peer.ask(
                            "open "
                                    + family.gidIndex()
                                    + " "
                                    + rights
                                    + " "
                                    + memoryRights
                                    + " "
                                    + memoryBytes
                                    + " "
                                    + PSN);
            peer.ask(
                    "connect "
                            + addresses.get(index).getHostAddress()
                            + " "
                            + own.number()
                            + " "
                            + own.firstPsn()
                            + " "
                            + mtu
                            + " "
                            + RETRIES
                            + " "
                            + rnrRetriesOfPeer);
            theirs =
                    new RoceMemory(
                                    Long.parseUnsignedLong(opened[1]),
                                    Integer.parseUnsignedInt(opened[2]) ^ keyError,
                                    memoryBytes,
                                    ALL)
                            .importFrom(family.guest(), device);
            rdma.connect(
                    new RoceQueuePair(
                                    family.guest(),
                                    Integer.parseInt(opened[0]),
                                    PSN,
                                    mtu,
                                    READ_LIMIT)
                            .blob(),
                    connection);
            engine.start(rdma, TIMEOUT);
        }

        /** Submits a request: data of the source is sent or written, a read goes to the half. */
        private void submit(Operation operation, int size) {
            Task task =
                    switch (operation) {
                        case WRITE -> rdma.allocateWrite(connection, data(mmap, 0, size), room(theirs, size));
                        case WRITE_IMM ->
                                rdma.allocateWriteImmediate(
                                        connection, data(mmap, 0, size), room(theirs, size), IMMEDIATE);
                        case SEND -> rdma.allocateSend(connection, size == 0 ? null : data(mmap, 0, size));
                        case SEND_IMM ->
                                rdma.allocateSendImmediate(
                                        connection, size == 0 ? null : data(mmap, 0, size), IMMEDIATE);
                        case READ -> rdma.allocateRead(connection, data(theirs, 0, size), room(mmap, size));
                        case CMP_SWAP ->
                                rdma.allocateCompareAndSwap(
                                        connection, data(theirs, half(), size), room(mmap, size), 41, 42);
                        case FETCH_ADD ->
                                rdma.allocateFetchAndAdd(
                                        connection, data(theirs, half(), size), room(mmap, size), 5);
                    };
            task.submit();
        }

        private Buf data(Mmap of, long offset, int size) {
            return kept(inventory.bufByData(of, offset, size));
        }

        private Buf room(Mmap of, int size) {
            return kept(inventory.bufByAddress(of, half(), size));
        }

        private Buf kept(Buf buf) {
            bufs.add(buf);
            return buf;
        }

        private void receive(int size) {
            rdma.allocateReceive(size == 0 ? null : room(mmap, size)).submit();
        }

        /** Posts a request of the peer. */
        private void post(Operation operation, int size, int wrong) throws IOException {
            long first = operation == Operation.CMP_SWAP ? 41 : operation == Operation.FETCH_ADD ? 5 : Integer.toUnsignedLong(IMMEDIATE);
            peer.ask(
                    "post "
                            + operation.ordinal()
                            + " 0 "
                            + size
                            + " "
                            + Long.toUnsignedString(ours.address() + half())
                            + " "
                            + Integer.toUnsignedString(ours.key() ^ wrong)
                            + " "
                            + first
                            + " 42");
        }

        private void ended(Task task) {
            ended++;
            status = status == Status.SUCCESS ? task.status() : status;
            task.free();
        }

        private void received(RdmaReceiveTask task) {
            if (task.status() == Status.SUCCESS) {
                receivedBytes = task.resultLength();
                receivedImmediate = task.resultImmediate();
            }
            ended(task);
        }

        /** Waits for one more task of ours. */
        private void awaitTask(Status awaited) {
            expected++;
            progressUntil(() -> ended >= expected, "task");
            if (status != awaited) {
                throw new DpuException(
                        status,
                        "another status: status="
                                + status
                                + ", expected="
                                + awaited
                                + ", reason="
                                + connection.failureReason());
            }
        }

        /** Waits for the end of the connection. */
        private void awaitEnd(Status awaited) {
            progressUntil(() -> connection.state() == RdmaConnection.State.FAILED, "end");
            if (connection.failure() != awaited) {
                throw new DpuException(
                        connection.failure(),
                        "another failure than " + awaited + ": " + connection.failureReason());
            }
        }

        /** Also if the context stops meanwhile, as failures of some tasks have it. */
        private void progressUntil(java.util.function.BooleanSupplier condition, String what) {
            long end = System.nanoTime() + TIMEOUT.toNanos();
            while (!condition.getAsBoolean()) {
                if (System.nanoTime() - end > 0) {
                    throw new DpuException(
                            Status.TIME_OUT, "no " + what + " in time: " + connection.failureReason());
                }
                engine.await(Duration.ofMillis(10));
            }
        }

        private void progressFor(Duration time) {
            long end = System.nanoTime() + time.toNanos();
            while (System.nanoTime() - end < 0) {
                engine.await(Duration.ofMillis(10));
            }
        }

        private void fill(long offset, int size) {
            for (long i = 0; i < size; i++) {
                memory.set(ValueLayout.JAVA_BYTE, offset + i, pattern(i, seed));
            }
        }

        /** Index of the first byte that is not the pattern's; -1 for none. */
        private long compare(long offset, int size) {
            for (long i = 0; i < size; i++) {
                if (memory.get(ValueLayout.JAVA_BYTE, offset + i) != pattern(i, seed)) {
                    return i;
                }
            }
            return -1;
        }

        private long word(long offset) {
            return memory.get(ValueLayout.JAVA_LONG, offset);
        }

        private void setWord(long offset, long value) {
            memory.set(ValueLayout.JAVA_LONG, offset, value);
        }

        @Override
        public void close() {
            if (connection != null && connection.state() == RdmaConnection.State.CONNECTED) {
                connection.disconnect();
            }
            engine.stop(rdma, TIMEOUT);
            bufs.forEach(Buf::release);
            rdma.close();
            inventory.stop();
            inventory.close();
            if (theirs != null) {
                theirs.close();
            }
            mmap.close();
            shared.close();
            engine.close();
        }
    }
}
