package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A thread with an engine and one context of a {@link LoadSession}: a producer that sends to all
 * consumers of the peer in turn, or a consumer that checks what it receives. It ends when its
 * context is IDLE, because the connection has ended or because all has been sent or received.
 *
 * <p>Its thread writes the fields, any thread reads them.
 */
abstract sealed class LoadWorker {
    /** Limit of a wait, so that a worker looks at its commands. */
    static final Duration PAUSE = Duration.ofMillis(5);

    private static final int SEND_BUFFERS = 4;
    private static final int RECEIVE_BUFFERS = 8;

    /** Number of calls of the engine that have returned. */
    final AtomicLong passes = new AtomicLong();

    final AtomicLong submitted = new AtomicLong();
    final AtomicLong completed = new AtomicLong();

    /** Messages whose bytes were as expected, or that were sent with success. */
    final AtomicLong good = new AtomicLong();

    /** Time at which the end of the connection was noticed; 0 if it was not. */
    volatile long lostNanos;

    volatile @Nullable Throwable failure;

    /** Number of tasks by their status. */
    final Map<Status, Long> statuses = new ConcurrentHashMap<>();

    /** Refusals of submissions and of the context, other than AGAIN. */
    final Map<Status, Long> refusals = new ConcurrentHashMap<>();

    final ComchConnection connection;
    private final Device device;
    private final Thread thread;

    private LoadWorker(ComchConnection connection, Device device, String name) {
        this.connection = connection;
        this.device = device;
        this.thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
    }

    final LoadWorker begin() {
        thread.start();
        return this;
    }

    /** Waits for the end of the thread; false if the time is over. */
    final boolean join(Duration deadline) {
        try {
            return thread.join(deadline);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public final String toString() {
        return Text.format(
                "%s: submitted=%d, completed=%d, good=%d, statuses=%s, refusals=%s, passes=%d",
                thread.getName(),
                submitted.get(),
                completed.get(),
                good.get(),
                statuses,
                refusals,
                passes.get());
    }

    abstract int buffers();

    abstract Context create(Mmap mmap);

    /** Submits what can be submitted; called while the context is RUNNING. */
    abstract void step(SharedMemory memory, Mmap mmap, BufInventory inventory);

    /** Whether nothing more will be submitted, so that the context can stop. */
    abstract boolean isDone();

    abstract void releaseBufs();

    private void run() {
        try (ProgressEngine engine = ProgressEngine.create();
                SharedMemory memory =
                        SharedMemory.allocate((long) buffers() * LoadMessage.LARGEST_BYTES);
                Mmap mmap =
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(
                                        Permissions.of(
                                                AccessFlag.LOCAL_READ_WRITE,
                                                AccessFlag.PCI_READ_WRITE))
                                .addDevice(device)
                                .start();
                BufInventory inventory = BufInventory.create(buffers()).start()) {
            Context context = create(mmap);
            try {
                engine.connect(context);
                context.setStateChangedCallback((of, from, to) -> changed(of, to));
                context.start();
            } catch (DpuException e) {
                context.close();
                throw e;
            }
            while (context.state() != ContextState.IDLE) {
                if (context.state() == ContextState.RUNNING) {
                    step(memory, mmap, inventory);
                    if (isDone()) {
                        context.stop();
                    }
                }
                engine.await(PAUSE);
                passes.incrementAndGet();
            }
            context.close();
            releaseBufs();
        } catch (DpuException e) {
            if (e.status() == Status.NOT_CONNECTED) { // it has ended before the start
                lostNanos = System.nanoTime();
                count(refusals, e.status());
            } else {
                failure = e;
            }
        } catch (Throwable e) {
            failure = e;
        }
    }

    private void changed(Context context, ContextState to) {
        if (lostNanos == 0
                && context.failure() != null
                && (to == ContextState.STOPPING || to == ContextState.IDLE)) {
            lostNanos = System.nanoTime();
        }
    }

    final void count(Map<Status, Long> in, Status status) {
        in.merge(status, 1L, Long::sum);
    }

    final void completed(Status status) {
        completed.incrementAndGet();
        count(statuses, status);
    }

    /** Sends without end, until {@link #finish()}. */
    static final class Producer extends LoadWorker {
        private final int remoteConsumers;
        private final Deque<Buf> sources = new ArrayDeque<>();
        private final MemorySegment immediate = MemorySegment.ofArray(new long[1]);
        private final long[] numbers;
        private int @Nullable [] consumerIds;
        private @Nullable ComchProducer producer;
        private volatile boolean finishing;
        private int turn;
        private int ended;
        private int inFlight;
        private boolean refused;

        Producer(ComchConnection connection, Device device, int number, int remoteConsumers) {
            super(connection, device, "load-producer-" + number);
            this.remoteConsumers = remoteConsumers;
            this.numbers = new long[remoteConsumers];
        }

        /** Sends one last message to each consumer, and stops when all have been sent. */
        void finish() {
            finishing = true;
        }

        @Override
        int buffers() {
            return SEND_BUFFERS;
        }

        @Override
        Context create(Mmap mmap) {
            producer =
                    ComchProducer.create(connection)
                            .setSendTasks(SEND_BUFFERS, this::ended, this::ended);
            return producer;
        }

        @Override
        void step(SharedMemory memory, Mmap mmap, BufInventory inventory) {
            if (consumerIds == null) {
                int[] known = connection.remoteConsumers();
                if (known.length < remoteConsumers) {
                    return; // not all have been announced, or the connection has ended
                }
                consumerIds = known;
                for (int i = 0; i < SEND_BUFFERS; i++) {
                    sources.add(
                            inventory.bufByAddress(
                                    mmap,
                                    (long) i * LoadMessage.LARGEST_BYTES,
                                    LoadMessage.LARGEST_BYTES));
                }
            }
            while (!sources.isEmpty() && !refused && ended < remoteConsumers) {
                if (!send(memory)) {
                    return;
                }
            }
        }

        /** Sends the next message; false if it was refused. */
        private boolean send(SharedMemory memory) {
            boolean last = finishing;
            int to = last ? ended : turn % remoteConsumers;
            Buf source = sources.element();
            LoadMessage message = LoadMessage.of(producer.id(), consumerIds[to], numbers[to], last);
            MemorySegment.copy(
                    message.bytes(),
                    0,
                    memory.segment(),
                    ValueLayout.JAVA_BYTE,
                    source.offset(),
                    message.bytes().length);
            source.setData(source.offset(), message.bytes().length);
            ComchProducerSendTask task = producer.allocateSendTask(source, consumerIds[to]);
            immediate.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, message.immediate());
            task.setImmediate(immediate, 0, Long.BYTES);
            Status status = task.trySubmit();
            if (status != Status.SUCCESS) {
                task.free();
                if (status != Status.AGAIN) {
                    count(refusals, status);
                    refused = true; // the end of the context follows
                }
                return false;
            }
            sources.remove();
            submitted.incrementAndGet();
            inFlight++;
            numbers[to]++;
            turn++;
            if (last) {
                ended++;
            }
            return true;
        }

        private void ended(ComchProducerSendTask task) {
            completed(task.status());
            inFlight--;
            if (task.status() == Status.SUCCESS) {
                good.incrementAndGet();
            }
            sources.add(task.buf());
            task.free();
        }

        @Override
        boolean isDone() {
            return ended == remoteConsumers && inFlight == 0;
        }

        @Override
        void releaseBufs() {
            sources.forEach(Buf::release);
        }
    }

    /** Receives until the last message of each producer has come. */
    static final class Consumer extends LoadWorker {
        private final int remoteProducers;
        private final Map<Integer, Long> nextNumbers = new HashMap<>();
        private @Nullable ComchConsumer consumer;
        private @Nullable MemorySegment received;
        private int ended;

        Consumer(ComchConnection connection, Device device, int number, int remoteProducers) {
            super(connection, device, "load-consumer-" + number);
            this.remoteProducers = remoteProducers;
        }

        @Override
        int buffers() {
            return RECEIVE_BUFFERS;
        }

        @Override
        Context create(Mmap mmap) {
            consumer =
                    ComchConsumer.create(connection, mmap)
                            .setPostReceiveTasks(RECEIVE_BUFFERS, this::arrived, this::failed);
            return consumer;
        }

        @Override
        void step(SharedMemory memory, Mmap mmap, BufInventory inventory) {
            if (received == null) {
                received = memory.segment();
                for (int i = 0; i < RECEIVE_BUFFERS; i++) {
                    post(
                            consumer.allocatePostReceiveTask(
                                    inventory.bufByAddress(
                                            mmap,
                                            (long) i * LoadMessage.LARGEST_BYTES,
                                            LoadMessage.LARGEST_BYTES)));
                }
            }
        }

        private void post(ComchPostReceiveTask task) {
            Status status = task.trySubmit();
            if (status == Status.SUCCESS) {
                submitted.incrementAndGet();
            } else {
                count(refusals, status);
                discard(task);
            }
        }

        private void arrived(ComchPostReceiveTask task) {
            completed(task.status());
            Buf buf = task.buf();
            int producerId = task.producerId();
            long number = nextNumbers.getOrDefault(producerId, 0L);
            long immediate = LoadMessage.immediate(task);
            LoadMessage.require(
                    producerId,
                    consumer.id(),
                    number,
                    received.asSlice(buf.dataOffset(), task.receivedLength()),
                    immediate);
            nextNumbers.put(producerId, number + 1);
            good.incrementAndGet();
            if (immediate < 0) {
                ended++;
            }
            buf.resetDataLength();
            if (consumer.state() == ContextState.RUNNING) {
                post(task);
            } else {
                discard(task);
            }
        }

        private void failed(ComchPostReceiveTask task) {
            completed(task.status());
            discard(task);
        }

        private static void discard(ComchPostReceiveTask task) {
            task.buf().release();
            task.free();
        }

        @Override
        boolean isDone() {
            return ended == remoteProducers;
        }

        @Override
        void releaseBufs() {
            // Each was released with its task.
        }
    }
}
