import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.topology.json.TopologyJson;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.function.BooleanSupplier;

/** An instance of ours on a device, with connections by address and short messages. */
final class CmEnd implements AutoCloseable {
    static final Duration LIMIT = Duration.ofSeconds(40);
    private static final int MESSAGE = 64; // bytes at most
    private static final int PATH_MTU = 4096; // Linux asks for that of its interface

    private final Machine machine;
    private final Device device;
    private final SharedMemory shared;
    private final Mmap mmap = Mmap.create();
    private final ProgressEngine engine = ProgressEngine.create();
    private final BufInventory inventory;
    private final Rdma rdma;
    private final Buf[] bufs; // of receives, and of the send at last
    private final Queue<RdmaConnectionRequest> requests = new ArrayDeque<>();
    private final Queue<String> messages = new ArrayDeque<>();
    private boolean sent;
    private Status sendStatus = Status.SUCCESS;

    CmEnd(Path topology, String name, int gidIndex, int connections) throws IOException {
        machine = Machine.builder(Side.TARGET).topology(TopologyJson.read(topology)).open();
        device = machine.findDevice(name).open();
        int receives = connections + 1;
        shared = SharedMemory.allocate((receives + 1) * MESSAGE);
        mmap.setMemory(shared)
                .setPermissions(Permissions.of(AccessFlag.LOCAL_READ_WRITE))
                .addDevice(device)
                .start();
        inventory = BufInventory.create(receives + 1).start();
        bufs = new Buf[receives + 1];
        rdma = Rdma.create(device);
        rdma.setProvider("roce")
                .setGidIndex(gidIndex)
                .setPathMtuBytes(PATH_MTU)
                .setMaxConnections(connections)
                .setConnectTimeout(LIMIT)
                .setRnrRetries(Rdma.RNR_RETRIES_UNLIMITED)
                .setRnrTimer(Duration.ofMillis(20))
                .setSendTasks(1, this::sent, this::sent)
                .setReceiveTasks(receives, this::received, this::receiveEnded)
                .setConnectionRequestCallback(requests::add)
                .setStateChangedCallback((context, previous, next) -> postReceives(next));
        for (int i = 0; i < bufs.length; i++) {
            bufs[i] = inventory.bufByAddress(mmap, (long) i * MESSAGE, MESSAGE);
        }
        engine.connect(rdma);
        rdma.start();
    }

    /** At the first connection, before its first message. */
    private void postReceives(ContextState state) {
        for (int i = 0; state == ContextState.RUNNING && i < bufs.length - 1; i++) {
            RdmaReceiveTask task = rdma.allocateReceive(bufs[i]);
            task.setUserData(i);
            task.submit();
        }
    }

    Rdma rdma() {
        return rdma;
    }

    void drive() {
        engine.await(Duration.ofMillis(1));
    }

    RdmaConnection connect(InetAddress address, int port, String data) {
        RdmaAddress.Type type =
                address instanceof Inet4Address ? RdmaAddress.Type.IPV4 : RdmaAddress.Type.IPV6;
        return rdma.connect(new RdmaAddress(type, address, port), bytes(data));
    }

    /** The next request of a peer. */
    RdmaConnectionRequest request() {
        await("request", () -> !requests.isEmpty());
        return requests.remove();
    }

    /** The requests that have come since the last call. */
    List<RdmaConnectionRequest> requests() {
        List<RdmaConnectionRequest> come = List.copyOf(requests);
        requests.clear();
        return come;
    }

    /** The address at which it listens. */
    InetAddress address() {
        return RdmaCapabilities.of(device.info()).gidAddresses().get(rdma.gidIndex());
    }

    /** Sends a message and waits for its end. */
    Status send(RdmaConnection connection, String text) {
        Buf buf = bufs[bufs.length - 1];
        byte[] bytes = bytes(text);
        long offset = (bufs.length - 1L) * MESSAGE;
        MemorySegment.copy(bytes, 0, shared.segment(), ValueLayout.JAVA_BYTE, offset, bytes.length);
        buf.setDataLength(bytes.length);
        sent = false;
        rdma.allocateSend(connection, buf).submit();
        await("end of a send", () -> sent);
        return sendStatus;
    }

    /** The next message. */
    String message() {
        await("message", () -> !messages.isEmpty());
        return messages.remove();
    }

    boolean hasMessage() {
        return !messages.isEmpty();
    }

    void awaitState(RdmaConnection connection, RdmaConnection.State state) {
        await(
                "state " + state,
                () -> {
                    if (connection.state() == RdmaConnection.State.FAILED
                            && state != RdmaConnection.State.FAILED) {
                        throw new DpuException(
                                connection.failure(),
                                "state is another: state=FAILED, expected="
                                        + state
                                        + ", reason="
                                        + connection.failureReason());
                    }
                    return connection.state() == state;
                });
    }

    /** Waits for a failure of a connection. */
    void awaitFailure(RdmaConnection connection, Status failure) {
        await("failure " + failure, () -> hasEnded(connection));
        if (connection.failure() != failure) {
            throw new DpuException(
                    connection.failure(),
                    "failure is another: state="
                            + connection.state()
                            + ", failure="
                            + connection.failure()
                            + ", expected="
                            + failure
                            + ", reason="
                            + connection.failureReason());
        }
    }

    static boolean hasEnded(RdmaConnection connection) {
        return connection.state() == RdmaConnection.State.FAILED
                || connection.state() == RdmaConnection.State.DISCONNECTED;
    }

    void await(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new DpuException(Status.TIME_OUT, "no " + what + ": limit=" + LIMIT);
            }
            engine.await(Duration.ofMillis(10));
        }
    }

    void driveFor(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() - end < 0) {
            engine.await(Duration.ofMillis(10));
        }
    }

    private void sent(RdmaSendTask task) {
        sent = true;
        sendStatus = task.status();
        task.free();
    }

    private void received(RdmaReceiveTask task) {
        byte[] bytes = new byte[(int) task.resultLength()];
        MemorySegment.copy(
                shared.segment(),
                ValueLayout.JAVA_BYTE,
                task.userData() * MESSAGE,
                bytes,
                0,
                bytes.length);
        messages.add(new String(bytes, StandardCharsets.US_ASCII));
        bufs[(int) task.userData()].resetDataLength();
        task.submit();
    }

    private void receiveEnded(RdmaReceiveTask task) {
        task.free();
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public void close() {
        engine.stop(rdma, LIMIT);
        for (Buf buf : bufs) {
            buf.release();
        }
        rdma.close();
        inventory.stop();
        inventory.close();
        mmap.close();
        shared.close();
        engine.close();
        device.close();
        machine.close();
    }
}
