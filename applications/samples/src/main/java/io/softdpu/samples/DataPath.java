package io.softdpu.samples;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchConsumer;
import io.softdpu.comch.ComchEndpoint;
import io.softdpu.comch.ComchPostReceiveTask;
import io.softdpu.comch.ComchProducer;
import io.softdpu.comch.ComchProducerSendTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One side of the fast path on an established connection: a producer and a consumer, with memory
 * for a text to send and for one to receive. Both sides of the data path samples do the same:
 * {@link #start}, {@link #exchange}, {@link #stop}, in this order.
 */
final class DataPath implements AutoCloseable {
    private final ComchConnection connection;
    private final ProgressEngine engine;
    private final Deadline deadline;
    private final PrintStream out;
    private final byte[] text;
    private final Deque<Runnable> opened = new ArrayDeque<>();
    private final Mmap sent;
    private final Mmap receivable;
    private final BufInventory inventory;
    private final ComchConsumer consumer;
    private final ComchProducer producer;
    private final int receiveBytes;
    private byte @Nullable [] received;
    private boolean delivered;

    /** Creates and configures the producer and the consumer, and allocates their memory. */
    DataPath(
            ComchConnection connection,
            Device device,
            ProgressEngine engine,
            ChannelEvents events,
            byte[] text,
            Deadline deadline,
            PrintStream out) {
        this.connection = connection;
        this.engine = engine;
        this.deadline = deadline;
        this.out = out;
        this.text = text;
        receiveBytes = ChannelSettings.maxTextBytes(device.info());
        try {
            SharedMemory source = memory(text.length);
            source.segment().asSlice(0, text.length).copyFrom(MemorySegment.ofArray(text));
            sent = mmap(source, Permissions.LOCAL_READ_WRITE, device);
            // The peer's producers write into the consumer's memory, so the peer gets the right to.
            receivable =
                    mmap(
                            memory(receiveBytes),
                            Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE),
                            device);
            inventory = BufInventory.create(2);
            opened.push(inventory::close);
            inventory.start();
            consumer = ComchConsumer.create(connection, receivable);
            opened.push(consumer::close);
            events.register(consumer, "consumer");
            consumer.setPostReceiveTasks(1, this::received, this::failed);
            producer = ComchProducer.create(connection);
            opened.push(producer::close);
            events.register(producer, "producer");
            producer.setSendTasks(1, this::sent, this::failed);
        } catch (DpuException e) {
            close(); // what was opened before this failed
            throw e;
        }
    }

    /** Registers for the peer's consumers, without which an endpoint has no fast path. */
    static void register(ComchEndpoint endpoint, PrintStream out) {
        // Mandatory, although these samples send no messages.
        endpoint.setSendTasks(1, Task::free, Task::free);
        endpoint.setMessageCallback((_, _) -> {});
        endpoint.setConsumerCallbacks(
                (_, consumerId) -> out.println("consumer of the peer: id=" + consumerId),
                (_, consumerId) -> out.println("consumer of the peer has ended: id=" + consumerId));
    }

    /** Starts both, and waits until they run and the peer has a consumer to send to. */
    void start() {
        engine.start(consumer, deadline.remaining());
        engine.start(producer, deadline.remaining());
        engine.runUntil(
                () -> connection.remoteConsumers().length > 0,
                deadline.remaining(),
                consumer,
                producer);
    }

    /** Posts a buffer for the peer's text, sends our own, and waits for both. */
    byte[] exchange() {
        submit(
                consumer.allocatePostReceiveTask(
                        inventory.bufByAddress(receivable, 0, receiveBytes)));
        out.println("posted: bytes=" + receiveBytes);

        int peer = connection.remoteConsumers()[0];
        submit(producer.allocateSendTask(inventory.bufByData(sent, 0, text.length), peer));
        out.println("submitted: bytes=" + text.length);
        engine.runUntil(
                () -> delivered && received != null, deadline.remaining(), consumer, producer);
        return Objects.requireNonNull(received, "awaited");
    }

    /** Waits until the peer has stopped its consumer: it has got our text, and sent its own. */
    void awaitEndOfPeer() {
        engine.runUntil(
                () -> connection.remoteConsumers().length == 0,
                deadline.remaining(),
                consumer,
                producer);
    }

    /** Stops both; the client or server can stop only after this. */
    void stop() {
        ChannelEvents.stop(producer, engine, deadline);
        ChannelEvents.stop(consumer, engine, deadline);
    }

    /**
     * Submits a task. AGAIN from a producer says that the peer's consumer has not posted a buffer
     * yet; one that it posts later ends the sleep of runUntil, which then tries again.
     */
    private void submit(Task task) {
        Status[] submitted = {Status.AGAIN};
        engine.runUntil(
                () -> {
                    submitted[0] = task.trySubmit();
                    return submitted[0] != Status.AGAIN;
                },
                deadline.remaining(),
                consumer,
                producer);
        if (submitted[0] != Status.SUCCESS) {
            throw new DpuException(submitted[0], "task was not submitted: task=" + task);
        }
    }

    private void received(ComchPostReceiveTask task) {
        Buf buf = Objects.requireNonNull(task.buf(), "it was allocated with one");
        MemorySegment memory =
                receivable.segment().asSlice(buf.dataOffset(), task.receivedLength());
        received = memory.toArray(ValueLayout.JAVA_BYTE);
        task.free();
        buf.release();
    }

    private void sent(ComchProducerSendTask task) {
        Buf buf = Objects.requireNonNull(task.buf(), "it was allocated with one");
        task.free();
        buf.release();
        delivered = true;
        out.println("sent: bytes=" + text.length);
    }

    private void failed(Task task) {
        Status status = task.status();
        task.free();
        throw new DpuException(status, "task has failed: task=" + task);
    }

    private SharedMemory memory(int sizeBytes) {
        SharedMemory memory = SharedMemory.allocate(sizeBytes);
        opened.push(memory::close);
        return memory;
    }

    private Mmap mmap(SharedMemory memory, Permissions permissions, Device device) {
        Mmap mmap = Mmap.create();
        opened.push(mmap::close);
        return mmap.setMemory(memory).setPermissions(permissions).addDevice(device).start();
    }

    /** In the opposite order, each after what is built on it. */
    @Override
    public void close() {
        while (!opened.isEmpty()) {
            opened.pop().run();
        }
    }
}
