package io.softdpu.perf.comch;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchConsumer;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.linux.text.Reason;
import io.softdpu.perf.pair.EngineTurns;
import io.softdpu.perf.pair.Latencies;
import io.softdpu.perf.pair.ResourceStack;
import io.softdpu.perf.pair.SideDevice;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One more consumer of the DPU, with an engine and a thread of its own.
 *
 * <p>The methods belong to the DPU's thread. What the consumer has received is published at the end
 * of each turn of its engine, and the DPU's engine woken if that one waits for it.
 */
final class ConsumerThread implements AutoCloseable {
    private final ComchPlan plan;
    private final Device device;
    private final ComchConnection connection;
    private final ProgressEngine dpuEngine;
    private final Latencies latencies = new Latencies();
    private final Thread thread;

    /** Of the consumer's thread. */
    private long received;

    /** Written before {@link #published}. */
    private long publishedAtNanos;

    private volatile long published;
    private volatile boolean awaited;
    private volatile boolean ending;
    private volatile @Nullable ProgressEngine engine;
    private volatile @Nullable RuntimeException failure;

    /**
     * Starts the thread, which creates its consumer.
     *
     * @param dpuEngine woken after messages while the DPU {@linkplain #setAwaited waits}, and after
     *     a failure
     */
    ConsumerThread(
            ComchPlan plan, Device device, ComchConnection connection, ProgressEngine dpuEngine) {
        this.plan = plan;
        this.device = device;
        this.connection = connection;
        this.dpuEngine = dpuEngine;
        thread = Thread.ofPlatform().name("softdpu-perf-consumer").start(this::run);
    }

    /** Sets whether the DPU waits for messages. */
    void setAwaited(boolean isAwaited) {
        awaited = isAwaited;
    }

    /**
     * Number of messages received in all.
     *
     * @throws RuntimeException the failure of the consumer
     */
    long received() {
        requireNoFailure();
        return published;
    }

    /** Throws the failure of the consumer. */
    void requireNoFailure() {
        RuntimeException thrown = failure;
        if (thrown != null) {
            throw thrown;
        }
    }

    /** When the last of them had come; after {@link #received}. */
    long receivedAtNanos() {
        return publishedAtNanos;
    }

    /**
     * Moves the latencies; no message may be under way, and {@link #received} was called. The
     * consumer's thread records the next one after a message that the host sends only once it has
     * the report of these.
     */
    void moveLatencies(Latencies to) {
        to.add(latencies);
        latencies.reset();
    }

    private void run() {
        try (ResourceStack resources = new ResourceStack()) {
            SideDevice.pin(Side.DPU, plan.cpus());
            ProgressEngine own = resources.keep(ProgressEngine.create());
            engine = own;
            MessagePool messages =
                    resources.keep(new MessagePool(device, plan.window(), plan.sizeBytes()));
            ComchConsumer consumer = ComchConsumer.create(connection, messages.mmap());
            resources.keep(() -> stop(consumer, own));
            Incoming posted = new Incoming(plan, messages, consumer, () -> ending, this::received);
            own.connect(consumer);
            consumer.start();
            serve(plan.turnsOf(own, plan.waiting()), consumer, posted);
        } catch (RuntimeException e) {
            failure = e;
            dpuEngine.wake();
        } catch (Error e) { // reported as the failure of the measurement, not of a thread
            failure = new IllegalStateException("consumer failed: cause=" + Reason.of(e), e);
            dpuEngine.wake();
        }
    }

    private void serve(EngineTurns turns, ComchConsumer consumer, Incoming posted) {
        boolean filled = false;
        while (!ending && !hasEnded(consumer)) {
            turns.turn();
            if (!filled && consumer.state() == ContextState.RUNNING) {
                filled = true;
                posted.fill();
            }
            publish();
        }
    }

    /** It ends without a stop if the peer does: the DPU's thread sees that by the connection. */
    private static boolean hasEnded(ComchConsumer consumer) {
        return consumer.state() == ContextState.IDLE || consumer.state() == ContextState.STOPPING;
    }

    private void received(long stamp) {
        received++;
        if (stamp != 0) {
            latencies.record(System.nanoTime() - stamp); // one clock, see ComchDpu
        }
    }

    private void publish() {
        if (received != published) {
            publishedAtNanos = System.nanoTime();
            published = received;
            if (awaited) {
                dpuEngine.wake();
            }
        }
    }

    private void stop(ComchConsumer consumer, ProgressEngine own) {
        consumer.stop();
        long deadline = System.nanoTime() + ComchSide.ABORTED_NANOS;
        while (consumer.state() != ContextState.IDLE && System.nanoTime() - deadline < 0) {
            own.await(EngineTurns.TURN);
        }
        consumer.close();
    }

    /** Ends the thread, and with it the consumer. */
    @Override
    public void close() {
        ending = true;
        ProgressEngine own = engine;
        if (own != null) {
            own.wake();
        }
        long waitNanos = plan.deadlineNanos();
        try {
            if (!thread.join(Duration.ofNanos(waitNanos))) {
                throw new DpuException(
                        Status.TIME_OUT,
                        "thread of a consumer does not end: waitedMillis="
                                + TimeUnit.NANOSECONDS.toMillis(waitNanos));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        RuntimeException thrown = failure;
        if (thrown != null) {
            throw thrown;
        }
    }
}
