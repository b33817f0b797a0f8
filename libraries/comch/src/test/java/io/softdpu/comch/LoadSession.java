package io.softdpu.comch;

import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.ToLongFunction;

/**
 * Load on one connection, on one side of it: producers and consumers on threads of their own, and
 * numbered messages of the connection itself, which the thread of its engine sends. Both sides have
 * as many of each.
 *
 * <p>Created and {@linkplain #step() driven} by the thread of the connection's engine; any thread
 * reads.
 */
final class LoadSession {
    private static final int EACH = 2;
    private static final int MESSAGES_IN_FLIGHT = 4;

    final ComchConnection connection;
    final List<LoadWorker> workers = new ArrayList<>();
    final AtomicLong messagesSubmitted = new AtomicLong();
    final AtomicLong messagesCompleted = new AtomicLong();
    final AtomicLong messagesReceived = new AtomicLong();
    final Map<Status, Long> messageStatuses = new ConcurrentHashMap<>();

    /** Time at which the end of the connection was noticed; 0 if it was not. */
    volatile long lostNanos;

    private boolean finishing;

    LoadSession(ComchConnection connection, Device device) {
        this.connection = connection;
        for (int i = 0; i < EACH; i++) {
            workers.add(new LoadWorker.Consumer(connection, device, i, EACH).begin());
            workers.add(new LoadWorker.Producer(connection, device, i, EACH).begin());
        }
    }

    /** Sends messages, if few are in flight. */
    synchronized void step() {
        while (!finishing
                && connection.isConnected()
                && messagesSubmitted.get() - messagesCompleted.get() < MESSAGES_IN_FLIGHT) {
            ComchSendTask task = connection.endpoint().allocateSendTask(connection);
            task.setMessage(
                    MemorySegment.ofArray(new long[] {messagesSubmitted.get()}), 0, Long.BYTES);
            if (task.trySubmit() != Status.SUCCESS) {
                task.free();
                return;
            }
            messagesSubmitted.incrementAndGet();
        }
    }

    void messageEnded(Status status) {
        messagesCompleted.incrementAndGet();
        messageStatuses.merge(status, 1L, Long::sum);
    }

    void messageArrived(MemorySegment message) {
        long number = message.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
        if (message.byteSize() != Long.BYTES || number != messagesReceived.get()) {
            throw new AssertionError(
                    Text.format(
                            "message of the connection lost or duplicated: number=%d, expected=%d",
                            number, messagesReceived.get()));
        }
        messagesReceived.incrementAndGet();
    }

    void lost() {
        if (lostNanos == 0) {
            lostNanos = System.nanoTime();
        }
    }

    /** Lets the load end: what has been sent is received. The peer has to finish, too. */
    void finish() {
        synchronized (this) { // a step under way still counts what it submits
            finishing = true;
        }
        for (LoadWorker worker : workers) {
            if (worker instanceof LoadWorker.Producer producer) {
                producer.finish();
            }
        }
    }

    /** Waits for the end of all threads. */
    void join() {
        for (LoadWorker worker : workers) {
            if (!worker.join(Patience.DEADLINE)) {
                throw new AssertionError("does not end: " + this);
            }
        }
        requireNoFailure();
    }

    /** Waits for a condition of this load, unless a worker has failed. */
    void await(String what, BooleanSupplier condition) {
        boolean holds =
                Await.holdsWithin(
                        Patience.LIMIT,
                        () -> {
                            requireNoFailure();
                            return condition.getAsBoolean();
                        });
        if (!holds) {
            throw new AssertionError(Text.format("did not happen: what=%s, %s", what, this));
        }
    }

    void requireNoFailure() {
        for (LoadWorker worker : workers) {
            if (worker.failure != null) {
                throw new AssertionError("failed: " + worker, worker.failure);
            }
        }
    }

    /** Messages sent by producers with success. */
    long sent() {
        return sum(LoadWorker.Producer.class, worker -> worker.good.get());
    }

    /** Messages received by consumers. */
    long received() {
        return sum(LoadWorker.Consumer.class, worker -> worker.good.get());
    }

    private long sum(Class<? extends LoadWorker> kind, ToLongFunction<LoadWorker> value) {
        return workers.stream().filter(kind::isInstance).mapToLong(value).sum();
    }

    /** Totals, which both sides compare at the end. */
    String totals() {
        return Text.format(
                "sent=%d, received=%d, messagesSent=%d, messagesReceived=%d",
                sent(), received(), messagesCompleted.get(), messagesReceived.get());
    }

    @Override
    public String toString() {
        return Text.format(
                "%s, messages: submitted=%d, completed=%d, received=%d, statuses=%s, %s",
                connection,
                messagesSubmitted.get(),
                messagesCompleted.get(),
                messagesReceived.get(),
                messageStatuses,
                workers);
    }
}
