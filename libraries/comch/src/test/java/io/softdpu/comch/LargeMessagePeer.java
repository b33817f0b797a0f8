package io.softdpu.comch;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Soak;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.function.BooleanSupplier;

/**
 * One side of a connection over which large messages go, one in each direction or from the client
 * alone. Meanwhile the client measures round trips of small messages over the fast path, of a
 * producer and consumer of their own, and of control messages. As a process it is the server. All
 * contexts of a side are on one engine.
 */
public final class LargeMessagePeer implements AutoCloseable {

    private static final String NAME = "large messages";
    private static final int SMALL_BYTES = 64;

    /** Limit of imports beside the large memory: rings, and memory of small messages. */
    private static final long OTHER_BYTES = 64 << 20;

    private static final String PING = "ping";
    private static final String BEGIN = "begin";
    private static final String END = "end";

    /** Round trips of each kind before the large messages, so that the code is compiled. */
    private static final int WARM_UPS = Soak.isLong() ? 5_000 : 100;

    private final Side side;
    private final long sizeBytes;
    private final boolean sends;
    private final boolean receives;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final Device device;
    private final ProgressEngine engine;
    private final ComchEndpoint endpoint;
    private final BufInventory inventory;
    private final List<Context> contexts = new ArrayList<>();
    private final List<Integer> remoteConsumers = new ArrayList<>();
    private ComchConnection connection;
    private boolean disconnected;

    private Memory source;
    private Memory destination;
    private ComchProducer largeProducer;
    private Status sent;
    private Status received;
    private long receivedBytes;

    private Memory small;
    private ComchConsumer smallConsumer;
    private ComchProducerSendTask smallSend;
    private boolean smallSending;
    private boolean smallDue;
    private boolean controlDue;

    /** Whether round trips are recorded: while the large messages are under way. */
    private boolean measuring;

    private boolean begun;
    private boolean ended;
    private int smallRounds;
    private int controlRounds;

    /** When each became due; 0 for one that is not measured. */
    private long smallDueNanos;

    private long controlDueNanos;
    private final List<Long> smallNanos = new ArrayList<>();
    private final List<Long> controlNanos = new ArrayList<>();

    private record Memory(SharedMemory shared, Mmap mmap) {}

    /** Outcome of a transfer for the client; the times are round trips, in nanoseconds. */
    record Result(
            Status sent,
            Status received,
            boolean equal,
            List<Long> smallNanos,
            List<Long> controlNanos) {}

    /**
     * Opens one side.
     *
     * @param sizeBytes length of the large messages
     * @param bothWays whether the server sends one, too
     */
    LargeMessagePeer(Side side, Path folder, long sizeBytes, boolean bothWays) {
        this.side = side;
        this.sizeBytes = sizeBytes;
        sends = side == Side.HOST || bothWays;
        receives = side == Side.DPU || bothWays;
        Machine machine =
                keep(
                        Machine.builder(side)
                                .fabricFolder(folder)
                                .importedBytesLimit(2 * sizeBytes + OTHER_BYTES)
                                .open());
        engine = keep(ProgressEngine.create());
        device = keep(machine.findDevice(side == Side.DPU ? "p0" : "pf0").open());
        inventory = keep(BufInventory.create(16));
        inventory.start();
        endpoint =
                side == Side.DPU
                        ? server()
                        : ComchClient.create(device, NAME).setConnectTimeout(Patience.LIMIT);
        endpoint.setSendTasks(4, ComchSendTask::free, ComchSendTask::free)
                .setMessageCallback((from, message) -> messageReceived(message))
                .setConsumerCallbacks((c, id) -> remoteConsumers.add(id), (c, id) -> {})
                .setControlTimeout(Patience.LIMIT); // mapping the memory takes a while
        engine.connect(endpoint);
        contexts.add(endpoint);
    }

    private ComchServer server() {
        Representor representor = keep(device.findRepresentor("hpf0").open());
        return ComchServer.create(device, representor, NAME)
                .setConnectedCallback(established -> connection = established)
                .setDisconnectedCallback((ended, reason) -> disconnected = true);
    }

    private <T extends AutoCloseable> T keep(T resource) {
        open.push(resource);
        return resource;
    }

    /** Arguments: the folder, the size, and whether to send, too. */
    public static void main(String[] arguments) {
        Path folder = Path.of(arguments[0]);
        long sizeBytes = Long.parseLong(arguments[1]);
        boolean bothWays = Boolean.parseBoolean(arguments[2]);
        try (LargeMessagePeer peer = new LargeMessagePeer(Side.DPU, folder, sizeBytes, bothWays)) {
            peer.endpoint.start();
            System.out.println("ready");
            peer.serve();
        }
    }

    private void serve() {
        until(() -> connection != null);
        prepare();
        until(() -> begun);
        beginLarge();
        until(() -> isLargeDone() && ended);
        System.out.printf(
                Locale.ROOT,
                "received status=%s, lengthBytes=%d, equal=%b%n",
                received,
                receivedBytes,
                isPattern(destination.shared.segment(), Side.HOST));
        until(() -> sendControl(END));
        closeFastPath();
        until(() -> disconnected);
    }

    /** Connects, and sends and receives the large messages. */
    Result transfer() {
        connect();
        controlDue = true;
        smallDue = true;
        until(() -> smallRounds >= WARM_UPS && controlRounds >= WARM_UPS);
        until(() -> sendControl(BEGIN));
        beginLarge();
        measuring = true;
        until(this::isLargeDone);
        measuring = false;
        boolean equal = !receives || isPattern(destination.shared.segment(), Side.DPU);
        controlDue = false;
        until(() -> sendControl(END));
        until(() -> ended);
        closeFastPath();
        return new Result(sent, received, equal, smallNanos, controlNanos);
    }

    /** Connects a client and creates its producers and consumers. */
    private void connect() {
        engine.start(endpoint, Patience.LIMIT);
        connection = ((ComchClient) endpoint).connection();
        prepare();
    }

    private Memory memory(long bytes) {
        SharedMemory shared = keep(SharedMemory.allocate(bytes));
        Mmap mmap = keep(Mmap.create());
        mmap.setMemory(shared)
                .setPermissions(
                        Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE))
                .addDevice(device)
                .start();
        return new Memory(shared, mmap);
    }

    private ComchProducer producer(int tasks) {
        ComchProducer producer = ComchProducer.create(connection);
        producer.setSendTasks(tasks, this::completed, this::completed);
        engine.connect(producer);
        engine.start(producer, Patience.LIMIT);
        return producer;
    }

    private ComchConsumer consumer(Memory memory) {
        ComchConsumer consumer = ComchConsumer.create(connection, memory.mmap);
        consumer.setPostReceiveTasks(1, this::completed, this::completed);
        engine.connect(consumer);
        engine.start(consumer, Patience.LIMIT);
        contexts.add(consumer);
        return consumer;
    }

    /** Creates producers and consumers, those of small messages first, and awaits the peer's. */
    private void prepare() {
        if (sends) { // first: it takes long, and the peer must not wait for it in its transfer
            source = memory(sizeBytes);
            fill(source.shared.segment(), side);
        }
        small = memory(2 * SMALL_BYTES);
        smallConsumer = consumer(small);
        postSmall();
        ComchProducer smallProducer = producer(1);
        contexts.add(smallProducer);
        if (receives) {
            destination = memory(sizeBytes);
            ComchConsumer largeConsumer = consumer(destination);
            largeConsumer
                    .allocatePostReceiveTask(inventory.bufByAddress(destination.mmap, 0, sizeBytes))
                    .submit();
        }
        if (sends) {
            largeProducer = producer(1);
            contexts.add(largeProducer);
        }
        boolean peerReceives = sends;
        until(() -> remoteConsumers.size() == (peerReceives ? 2 : 1));
        smallSend =
                smallProducer.allocateSendTask(
                        inventory.bufByData(small.mmap, 0, SMALL_BYTES),
                        remoteConsumers.getFirst());
    }

    private void beginLarge() {
        if (sends) {
            ComchProducerSendTask task =
                    largeProducer.allocateSendTask(
                            inventory.bufByData(source.mmap, 0, sizeBytes), remoteConsumers.get(1));
            until(() -> task.trySubmit() != Status.AGAIN);
        }
    }

    private boolean isLargeDone() {
        return (!sends || sent != null) && (!receives || received != null);
    }

    /** Progresses, and sends the small messages that are due, until the condition holds. */
    private void until(BooleanSupplier condition) {
        engine.runUntil(
                () -> {
                    sendDue();
                    return condition.getAsBoolean();
                },
                Patience.LIMIT,
                contexts.toArray(Context[]::new));
    }

    private void sendDue() {
        if (smallDue && !smallSending && smallSend != null) {
            if (smallSend.trySubmit() == Status.SUCCESS) {
                smallDue = false;
                smallSending = true;
            }
        }
        if (controlDue && sendControl(PING)) {
            controlDue = false;
        }
    }

    private boolean sendControl(String text) {
        ComchSendTask task = endpoint.allocateSendTask(connection);
        task.setMessage(text.getBytes(StandardCharsets.US_ASCII));
        boolean submitted = task.trySubmit() == Status.SUCCESS;
        if (!submitted) {
            task.free();
        }
        return submitted;
    }

    /** Records a round trip that began and ended beside the large messages. */
    private void record(long sinceNanos, List<Long> nanos) {
        if (measuring && sinceNanos != 0 && !isLargeDone()) {
            nanos.add(System.nanoTime() - sinceNanos);
        }
    }

    private void postSmall() {
        smallConsumer
                .allocatePostReceiveTask(
                        inventory.bufByAddress(small.mmap, SMALL_BYTES, SMALL_BYTES))
                .submit();
    }

    private void messageReceived(MemorySegment message) {
        String text = new String(message.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.US_ASCII);
        if (!text.equals(PING)) {
            begun |= text.equals(BEGIN);
            ended |= text.equals(END);
            return;
        }
        controlRounds++;
        record(controlDueNanos, controlNanos);
        controlDue = side == Side.DPU || !isLargeDone();
        controlDueNanos = measuring ? System.nanoTime() : 0;
    }

    private void completed(ComchPostReceiveTask task) {
        if (task.context() != smallConsumer) {
            received = task.status();
            receivedBytes = task.receivedLength();
        }
        Buf buf = task.buf();
        boolean again = task.context() == smallConsumer && task.status() == Status.SUCCESS;
        task.free();
        buf.release();
        if (again) {
            postSmall();
            smallRounds++;
            record(smallDueNanos, smallNanos);
            smallDue = side == Side.DPU || !isLargeDone();
            smallDueNanos = measuring ? System.nanoTime() : 0;
        }
    }

    private void completed(ComchProducerSendTask task) {
        if (task == smallSend) {
            smallSending = false;
            return;
        }
        sent = task.status();
        Buf buf = task.buf();
        task.free();
        buf.release();
    }

    private void closeFastPath() {
        until(() -> !smallSending);
        Buf buf = smallSend.buf();
        smallSend.free();
        buf.release();
        for (Context context : contexts.reversed()) {
            if (context != endpoint) {
                context.close();
            }
        }
        contexts.removeIf(context -> context != endpoint);
    }

    /** Fills with the number of each eight bytes, which differs by side, and of the last bytes. */
    private static void fill(MemorySegment segment, Side of) {
        long longs = segment.byteSize() / Long.BYTES;
        for (long i = 0; i < longs; i++) {
            segment.set(ValueLayout.JAVA_LONG, i * Long.BYTES, number(i, of));
        }
        for (long at = longs * Long.BYTES; at < segment.byteSize(); at++) {
            segment.set(ValueLayout.JAVA_BYTE, at, (byte) number(at, of));
        }
    }

    private boolean isPattern(MemorySegment segment, Side of) {
        boolean same = segment.byteSize() == sizeBytes;
        long longs = segment.byteSize() / Long.BYTES;
        for (long i = 0; i < longs; i++) {
            same &= segment.get(ValueLayout.JAVA_LONG, i * Long.BYTES) == number(i, of);
        }
        for (long at = longs * Long.BYTES; at < segment.byteSize(); at++) {
            same &= segment.get(ValueLayout.JAVA_BYTE, at) == (byte) number(at, of);
        }
        return same;
    }

    private static long number(long index, Side of) {
        return index + (of == Side.HOST ? 1 : 1_000_003);
    }

    @Override
    public void close() {
        endpoint.close();
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }
}
