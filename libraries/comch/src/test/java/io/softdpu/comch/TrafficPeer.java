package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;

/**
 * One side of a connection under load: a consumer with eight buffers and a producer, messages and
 * both sizes of sends, all numbered, each with bytes derived from its number. The memory that the
 * peer may write is between canaries that it may not.
 */
final class TrafficPeer {
    private static final int BUFFERS = 8;
    private static final int BUFFER_BYTES = 1024;
    private static final int OUTSTANDING = 4;
    private static final byte CANARY = (byte) 0xc5;

    final ComchConnection connection;
    private final boolean verifies;
    private final SharedMemory before = canary();
    private final SharedMemory receiving = SharedMemory.allocate(BUFFERS * BUFFER_BYTES);
    private final SharedMemory after = canary();
    private final SharedMemory sending = SharedMemory.allocate(BUFFERS * BUFFER_BYTES);
    private final Mmap receiveMap;
    private final Mmap sendMap;
    private final BufInventory inventory = BufInventory.create(2 * BUFFERS);
    private final ComchConsumer consumer;
    private final ComchProducer producer;
    private final Deque<Buf> sources = new ArrayDeque<>();
    private int remoteConsumer;
    private int sendsOut;
    private int messagesOut;
    private long sendsBegun;
    private long messagesBegun;
    private boolean posted;
    private long received;
    private long messagesReceived;

    /** Both contexts are started; their tasks begin with {@link #pump()}. */
    TrafficPeer(
            ComchConnection connection, Device device, ProgressEngine engine, boolean verifies) {
        this.connection = connection;
        this.verifies = verifies;
        inventory.start();
        receiveMap =
                map(
                        receiving,
                        device,
                        Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE));
        sendMap = map(sending, device, Permissions.of(AccessFlag.LOCAL_READ_WRITE));
        for (int i = 0; i < OUTSTANDING; i++) {
            sources.add(inventory.bufByAddress(sendMap, (long) i * BUFFER_BYTES, BUFFER_BYTES));
        }
        consumer = ComchConsumer.create(connection, receiveMap);
        engine.connect(consumer);
        consumer.setPostReceiveTasks(BUFFERS, this::arrived, this::notArrived);
        producer = ComchProducer.create(connection);
        engine.connect(producer);
        producer.setSendTasks(OUTSTANDING, this::sent, this::sent);
        consumer.start();
        producer.start();
    }

    private static Mmap map(SharedMemory memory, Device device, Permissions permissions) {
        Mmap map = Mmap.create();
        map.setMemory(memory).setPermissions(permissions).addDevice(device).start();
        return map;
    }

    private static SharedMemory canary() {
        SharedMemory memory = SharedMemory.allocate(4096);
        memory.segment().fill(CANARY);
        return memory;
    }

    void remoteConsumer(int id) {
        remoteConsumer = id;
    }

    /** Number of received messages and sends with the expected bytes. */
    long verified() {
        return received + messagesReceived;
    }

    /** Whether both paths have carried traffic, so that all shared memory is mapped. */
    boolean isUnderWay() {
        return received > 100 && messagesReceived > 100;
    }

    /** Keeps all tasks in flight. */
    void pump() {
        if (consumer.state() == ContextState.RUNNING && !posted) {
            posted = true;
            for (int i = 0; i < BUFFERS; i++) {
                consumer.allocatePostReceiveTask(
                                inventory.bufByAddress(
                                        receiveMap, (long) i * BUFFER_BYTES, BUFFER_BYTES))
                        .submit();
            }
        }
        if (producer.state() == ContextState.RUNNING && remoteConsumer != 0) {
            for (int i = sendsOut; i < OUTSTANDING && send(); i++) {
                // Until there is no task or no buffer left.
            }
        }
    }

    private boolean send() {
        int length = sendsBegun % 2 == 0 ? 60 : 900;
        Buf source = sources.element();
        byte[] bytes = bytes(sendsBegun, length);
        MemorySegment.copy(
                bytes, 0, sending.segment(), ValueLayout.JAVA_BYTE, source.offset(), length);
        source.setData(source.offset(), length);
        ComchProducerSendTask task = producer.allocateSendTask(source, remoteConsumer);
        Status status = task.trySubmit();
        if (status != Status.SUCCESS) {
            task.free();
            return false;
        }
        sources.remove();
        sendsBegun++;
        sendsOut++;
        return true;
    }

    /** Sends the next message, if few are in flight. */
    void message(ComchEndpoint endpoint) {
        if (messagesOut >= OUTSTANDING || !connection.isConnected()) {
            return;
        }
        ComchSendTask task = endpoint.allocateSendTask(connection);
        task.setMessage(bytes(messagesBegun, 8 + (int) (messagesBegun % 3000)));
        if (task.trySubmit() == Status.SUCCESS) {
            messagesBegun++;
            messagesOut++;
        } else {
            task.free();
        }
    }

    void messageEnded() {
        messagesOut--;
    }

    void messageArrived(MemorySegment message) {
        if (verifies) {
            require(message, messagesReceived, 8 + (int) (messagesReceived % 3000));
            messagesReceived++;
        }
    }

    private void sent(ComchProducerSendTask task) {
        sendsOut--;
        sources.add(task.buf());
        task.free();
    }

    private void arrived(ComchPostReceiveTask task) {
        Buf buf = task.buf();
        if (verifies) {
            int length = received % 2 == 0 ? 60 : 900;
            assertThat(task.receivedLength()).isEqualTo(length);
            require(receiving.segment().asSlice(buf.offset(), length), received, length);
            received++;
        }
        buf.resetDataLength();
        if (consumer.state() != ContextState.RUNNING || task.trySubmit() != Status.SUCCESS) {
            discard(task);
        }
    }

    private void notArrived(ComchPostReceiveTask task) {
        if (consumer.state() == ContextState.RUNNING) { // abandoned by its producer
            task.buf().resetDataLength();
            if (task.trySubmit() == Status.SUCCESS) {
                return;
            }
        }
        discard(task);
    }

    private static void discard(ComchPostReceiveTask task) {
        task.buf().release();
        task.free();
    }

    private static byte[] bytes(long number, int length) {
        byte[] bytes = new byte[length];
        new SplittableRandom(number).nextBytes(bytes);
        return bytes;
    }

    private static void require(MemorySegment found, long number, int length) {
        MemorySegment expected = MemorySegment.ofArray(bytes(number, length));
        assertThat(found.mismatch(expected))
                .as("first wrong byte of number %d", number)
                .isEqualTo(-1);
    }

    /** Whether both contexts have ended. */
    boolean isOver() {
        return !connection.isConnected()
                && consumer.state() == ContextState.IDLE
                && producer.state() == ContextState.IDLE;
    }

    /** Begins to stop both contexts. */
    void stop() {
        if (consumer.state() != ContextState.IDLE && consumer.state() != ContextState.STOPPING) {
            consumer.stop();
        }
        if (producer.state() != ContextState.IDLE && producer.state() != ContextState.STOPPING) {
            producer.stop();
        }
    }

    boolean isIdle() {
        return consumer.state() == ContextState.IDLE && producer.state() == ContextState.IDLE;
    }

    void close() {
        assertThat(before.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(CANARY);
        assertThat(after.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(CANARY);
        consumer.close();
        producer.close();
        for (Buf source : sources) {
            source.release();
        }
        inventory.close();
        receiveMap.close();
        sendMap.close();
        sending.close();
        after.close();
        receiving.close();
        before.close();
    }
}
