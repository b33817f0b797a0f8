import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
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

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SequencedMap;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/**
 * Both ends of a cell's connection by parameters: ours, with its resources, and the one in the
 * guest.
 */
final class LinuxEnds implements AutoCloseable {
    static final int RNR_UNLIMITED = 7;

    /** Of verbs: write, read, atomic. */
    static final int ALL_RIGHTS = 2 | 4 | 8;

    static final Permissions ALL =
            Permissions.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE, AccessFlag.RDMA_ATOMIC);

    static final int IMMEDIATE = 0xcafe1234;

    /** Bytes between the pieces of a list. */
    static final int GAP = 100;

    /** First PSN of the peer: wraps with the third packet. */
    static final int PSN = 0xfffffe;

    private static final String PROVIDER = "roce";
    private static final int READ_LIMIT = 16;
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);
    private static final int LIST_LENGTH = 8;
    private static final int RETRIES = 5;

    /** Address of the guest and its index in the guest's table, of one version of IP. */
    record Family(int version, InetAddress guest, int gidIndex) {}

    private final Device device;
    final LinuxPeer peer;
    private final Family family;
    private final int mtu;
    private final int memoryBytes;
    final int seed; // of the cell alone, so data of an earlier one is not taken for its own
    private final SharedMemory shared;
    private final MemorySegment memory;
    private final Mmap mmap = Mmap.create();
    private final ProgressEngine engine = ProgressEngine.create();
    private final BufInventory inventory = BufInventory.create(128).start();
    private final Rdma rdma;
    private final List<Buf> bufs = new ArrayList<>();
    int rnrRetries = Rdma.RNR_RETRIES_UNLIMITED;
    int keyError;
    int memoryRights = ALL_RIGHTS;

    /** Number of packets of ours with which the PSN is to wrap; 0 for any. */
    int wrapWithin;

    private RdmaConnection connection;
    private Mmap theirs;
    private RoceMemory ours;
    private final Duration timeout;
    private int ended;
    private int expected;
    private Status status = Status.SUCCESS;
    long receivedBytes;
    int receivedImmediate;

    LinuxEnds(Device device, LinuxPeer peer, Family family, int mtu, int memoryBytes, int seed) {
        this.device = device;
        this.peer = peer;
        this.family = family;
        this.mtu = mtu;
        this.memoryBytes = memoryBytes;
        this.seed = seed;
        shared = SharedMemory.allocate(memoryBytes);
        memory = shared.segment();
        timeout = peer.timeout();
        rdma = Rdma.create(device);
    }

    long half() {
        return memoryBytes / 2;
    }

    /** Connects both, with all rights. */
    void connect() throws IOException {
        connect(ALL_RIGHTS, ALL, RNR_UNLIMITED);
    }

    /** Connects both: rights of the peer's queue pair, ours, its RNR retries. */
    void connect(int rights, Permissions granted, int rnrRetriesOfPeer) throws IOException {
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
                .setMaxSendBufferListLength(LIST_LENGTH)
                .setReceiveBufferListLength(LIST_LENGTH)
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
        // The number is random.
        while (own.firstPsn() + wrapWithin < 1 << 24 && wrapWithin > 0) {
            connection.disconnect();
            connection = rdma.exportConnection();
            own = RoceQueuePair.of(connection);
        }
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
                new RoceQueuePair(family.guest(), Integer.parseInt(opened[0]), PSN, mtu, READ_LIMIT)
                        .blob(),
                connection);
        engine.start(rdma, timeout);
    }

    /**
     * Submits a request. Local and remote are offsets in either memory; the local one has the
     * pieces one behind the other with {@link #GAP} bytes between them, as a list of bufs.
     */
    void submit(Verb verb, long local, long remote, int... pieces) {
        int size = IntStream.of(pieces).sum();
        Task task =
                switch (verb) {
                    case WRITE ->
                            rdma.allocateWrite(
                                    connection, data(local, pieces), room(theirs, remote, size));
                    case WRITE_IMM ->
                            rdma.allocateWriteImmediate(
                                    connection,
                                    data(local, pieces),
                                    room(theirs, remote, size),
                                    IMMEDIATE);
                    case SEND ->
                            rdma.allocateSend(connection, size == 0 ? null : data(local, pieces));
                    case SEND_IMM ->
                            rdma.allocateSendImmediate(
                                    connection, size == 0 ? null : data(local, pieces), IMMEDIATE);
                    case READ ->
                            rdma.allocateRead(
                                    connection,
                                    kept(inventory.bufByData(theirs, remote, size)),
                                    rooms(local, pieces));
                    case CMP_SWAP ->
                            rdma.allocateCompareAndSwap(
                                    connection,
                                    kept(inventory.bufByData(theirs, remote, size)),
                                    room(mmap, local, size),
                                    41,
                                    42);
                    case FETCH_ADD ->
                            rdma.allocateFetchAndAdd(
                                    connection,
                                    kept(inventory.bufByData(theirs, remote, size)),
                                    room(mmap, local, size),
                                    5);
                };
        task.submit();
    }

    private Buf data(long offset, int... pieces) {
        return list(inventory::bufByData, offset, pieces);
    }

    private Buf rooms(long offset, int... pieces) {
        return list(inventory::bufByAddress, offset, pieces);
    }

    private Buf room(Mmap of, long offset, int size) {
        return kept(inventory.bufByAddress(of, offset, size));
    }

    private interface Maker {
        Buf make(Mmap of, long offset, long size);
    }

    private Buf list(Maker maker, long offset, int... pieces) {
        Buf head = kept(maker.make(mmap, offset, pieces[0]));
        long at = offset;
        for (int i = 1; i < pieces.length; i++) {
            at += pieces[i - 1] + GAP;
            head.chain(maker.make(mmap, at, pieces[i]));
        }
        return head;
    }

    private Buf kept(Buf buf) {
        bufs.add(buf);
        return buf;
    }

    void receive(long offset, int... pieces) {
        rdma.allocateReceive(pieces[0] == 0 ? null : rooms(offset, pieces)).submit();
    }

    /** Has the peer post a request; local is an offset in its memory, remote one in ours. */
    void post(Verb verb, long local, long remote, int size) throws IOException {
        peer.ask("post " + request(verb, local, remote, size));
    }

    /** Has the peer keep a request for its next post: both are in flight together. */
    void postLater(Verb verb, long local, long remote, int size) throws IOException {
        peer.ask("later " + request(verb, local, remote, size));
    }

    private String request(Verb verb, long local, long remote, int size) {
        long first =
                verb == Verb.CMP_SWAP
                        ? 41
                        : verb == Verb.FETCH_ADD ? 5 : Integer.toUnsignedLong(IMMEDIATE);
        return verb.ordinal()
                + " "
                + local
                + " "
                + size
                + " "
                + Long.toUnsignedString(ours.address() + remote)
                + " "
                + Integer.toUnsignedString(ours.key() ^ keyError)
                + " "
                + first
                + " 42";
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
    void awaitTask(Status awaited) {
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
    void awaitEnd(Status awaited) {
        progressUntil(() -> connection.state() == RdmaConnection.State.FAILED, "end");
        if (connection.failure() != awaited) {
            throw new DpuException(
                    connection.failure(),
                    "another failure than " + awaited + ": " + connection.failureReason());
        }
    }

    /** Also if the context stops meanwhile, as failures of some tasks have it. */
    private void progressUntil(BooleanSupplier condition, String what) {
        long end = System.nanoTime() + timeout.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new DpuException(
                        Status.TIME_OUT, "no " + what + " in time: " + connection.failureReason());
            }
            engine.await(Duration.ofMillis(10));
        }
    }

    void progressFor(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() - end < 0) {
            engine.await(Duration.ofMillis(10));
        }
    }

    void fill(long offset, int size, int seed) {
        for (long i = 0; i < size; i++) {
            memory.set(ValueLayout.JAVA_BYTE, offset + i, pattern(i, seed));
        }
    }

    /** Throws if our memory is another than what {@link #fill} writes. */
    void requireFilled(long offset, int size, int seed) {
        requireFilled(offset, 0, size, seed);
    }

    private void requireFilled(long offset, long from, int size, int seed) {
        for (long i = 0; i < size; i++) {
            if (memory.get(ValueLayout.JAVA_BYTE, offset + i) != pattern(from + i, seed)) {
                throw new IllegalStateException(
                        "byte that differs: index=" + (from + i) + ", offset=" + (offset + i));
            }
        }
    }

    /** As {@link #fill}, of the pieces of a list. */
    void fillPieces(long offset, int seed, int... pieces) {
        long from = 0;
        long at = offset;
        for (int piece : pieces) {
            for (long i = 0; i < piece; i++) {
                memory.set(ValueLayout.JAVA_BYTE, at + i, pattern(from + i, seed));
            }
            from += piece;
            at += piece + GAP;
        }
    }

    /** As {@link #requireFilled}, of the pieces of a list, between which all bytes are 0. */
    void requireFilledPieces(long offset, int seed, int... pieces) {
        long from = 0;
        long at = offset;
        for (int piece : pieces) {
            requireFilled(at, from, piece, seed);
            for (long i = 0; i < GAP; i++) {
                if (memory.get(ValueLayout.JAVA_BYTE, at + piece + i) != 0) {
                    throw new IllegalStateException(
                            "byte between pieces is written: offset=" + (at + piece + i));
                }
            }
            from += piece;
            at += piece + GAP;
        }
    }

    /** What the connection has counted, by the name of the counter. */
    long count(String counter) {
        return connection.counters().get(counter);
    }

    /** What the device has counted. */
    SequencedMap<String, Long> deviceCounts() {
        return rdma.deviceCounters();
    }

    long word(long offset) {
        return memory.get(ValueLayout.JAVA_LONG, offset);
    }

    void setWord(long offset, long value) {
        memory.set(ValueLayout.JAVA_LONG, offset, value);
    }

    @Override
    public void close() {
        if (connection != null && connection.state() == RdmaConnection.State.CONNECTED) {
            connection.disconnect();
        }
        engine.stop(rdma, STOP_TIMEOUT);
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

    private static byte pattern(long i, int seed) {
        return (byte) (seed * 131 + i * 7 + (i >> 8) * 13 + (i >> 16) * 29);
    }
}
