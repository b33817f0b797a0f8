package io.softdpu.comch;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;

/**
 * One side of a connection over which one large message goes; as a process it is the server, which
 * receives the message.
 */
public final class LargeMessagePeer implements AutoCloseable {
    /** One byte more than a GiB. */
    static final long SIZE_BYTES = (1L << 30) + 1;

    static final Duration PATIENCE = Duration.ofSeconds(120);

    private static final long IMPORT_LIMIT_BYTES = 4L << 30;
    private static final String NAME = "large messages";

    private final Machine machine;
    private final Device device;
    private final Representor representor;
    private final ProgressEngine engine = ProgressEngine.create();
    private final ComchEndpoint endpoint;
    private final SharedMemory memory;
    private final Mmap mmap;
    private final BufInventory inventory = BufInventory.create(1);
    private ComchConnection connected;
    private boolean disconnected;
    private int remoteConsumer;
    private Status completed;

    LargeMessagePeer(Side side, Path folder) {
        machine =
                Machine.builder(side)
                        .fabricFolder(folder)
                        .importedBytesLimit(IMPORT_LIMIT_BYTES)
                        .open();
        device = machine.findDevice(side == Side.DPU ? "p0" : "pf0").open();
        representor = side == Side.DPU ? device.findRepresentor("hpf0").open() : null;
        endpoint =
                representor == null
                        ? ComchClient.create(device, NAME)
                        : ComchServer.create(device, representor, NAME)
                                .setConnectionCallbacks(
                                        (connection, successful) -> connected = connection,
                                        (connection, successful) -> disconnected = true);
        endpoint.setSendTasks(1, ComchSendTask::free, ComchSendTask::free)
                .setMessageCallback((from, message) -> {})
                .setConsumerCallbacks((c, id) -> remoteConsumer = id, (c, id) -> {})
                .setControlTimeout(PATIENCE); // mapping the memory takes a while
        engine.connect(endpoint);
        memory = SharedMemory.allocate(SIZE_BYTES);
        mmap =
                Mmap.create()
                        .setMemory(memory)
                        .setPermissions(
                                Permissions.of(
                                        AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE))
                        .addDevice(device)
                        .start();
        inventory.start();
    }

    /** Prints its steps, and ends with the connection. */
    public static void main(String[] arguments) {
        try (LargeMessagePeer peer = new LargeMessagePeer(Side.DPU, Path.of(arguments[0]))) {
            peer.endpoint.start();
            System.out.println("ready");
            peer.receive();
        }
    }

    private void receive() {
        engine.runUntil(() -> connected != null, PATIENCE, endpoint);
        try (ComchConsumer consumer = ComchConsumer.create(connected, mmap)) {
            consumer.setPostReceiveTasks(1, this::completed, this::completed);
            engine.connect(consumer);
            engine.start(consumer, PATIENCE);
            Buf buf = inventory.bufByAddress(mmap, 0, SIZE_BYTES);
            ComchPostReceiveTask task = consumer.allocatePostReceiveTask(buf);
            task.submit();
            System.out.println("posted");
            engine.runUntil(() -> completed != null, PATIENCE, consumer);
            System.out.printf(
                    "received status=%s, lengthBytes=%d, equal=%b%n",
                    completed, task.receivedLength(), isPattern(memory.segment()));
            task.free();
            buf.release();
        }
        engine.runUntil(() -> disconnected, PATIENCE, endpoint);
    }

    /** Sends the message to the peer's consumer; the status of its task. */
    Status send() {
        engine.start(endpoint, PATIENCE);
        fill(memory.segment());
        engine.runUntil(() -> remoteConsumer != 0, PATIENCE, endpoint);
        try (ComchProducer producer = ComchProducer.create(((ComchClient) endpoint).connection())) {
            producer.setSendTasks(1, this::completed, this::completed);
            engine.connect(producer);
            engine.start(producer, PATIENCE);
            Buf buf = inventory.bufByData(mmap, 0, SIZE_BYTES);
            ComchProducerSendTask task = producer.allocateSendTask(buf, remoteConsumer);
            engine.runUntil(() -> task.trySubmit() != Status.AGAIN, PATIENCE, producer);
            engine.runUntil(() -> completed != null, PATIENCE, producer);
            task.free();
            buf.release();
        }
        return completed;
    }

    private void completed(ComchPostReceiveTask task) {
        completed = task.status();
    }

    private void completed(ComchProducerSendTask task) {
        completed = task.status();
    }

    /** The number of each eight bytes, and of the last byte. */
    private static void fill(MemorySegment segment) {
        long longs = segment.byteSize() / Long.BYTES;
        for (long i = 0; i < longs; i++) {
            segment.set(ValueLayout.JAVA_LONG, i * Long.BYTES, i + 1);
        }
        for (long at = longs * Long.BYTES; at < segment.byteSize(); at++) {
            segment.set(ValueLayout.JAVA_BYTE, at, (byte) (at + 77));
        }
    }

    private static boolean isPattern(MemorySegment segment) {
        boolean same = segment.byteSize() == SIZE_BYTES;
        long longs = segment.byteSize() / Long.BYTES;
        for (long i = 0; i < longs; i++) {
            same &= segment.get(ValueLayout.JAVA_LONG, i * Long.BYTES) == i + 1;
        }
        for (long at = longs * Long.BYTES; at < segment.byteSize(); at++) {
            same &= segment.get(ValueLayout.JAVA_BYTE, at) == (byte) (at + 77);
        }
        return same;
    }

    @Override
    public void close() {
        endpoint.close();
        inventory.close();
        mmap.close();
        memory.close();
        engine.close();
        if (representor != null) {
            representor.close();
        }
        device.close();
        machine.close();
    }
}
