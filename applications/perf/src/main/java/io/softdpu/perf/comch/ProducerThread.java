package io.softdpu.perf.comch;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchProducer;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.linux.text.Reason;
import io.softdpu.perf.pair.EngineTurns;
import io.softdpu.perf.pair.PerfPlan;
import io.softdpu.perf.pair.ResourceStack;
import io.softdpu.perf.pair.SideDevice;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One more producer of the host, with an engine and a thread of its own.
 *
 * <p>The methods belong to the host's thread. It waits for {@link Load#isOver} in its own engine,
 * which this thread wakes.
 */
final class ProducerThread implements AutoCloseable {
    /** Ends the thread. */
    private static final Load END = new Load(0);

    private final ComchPlan plan;
    private final Device device;
    private final ComchConnection connection;
    private final int remoteConsumer;
    private final ProgressEngine hostEngine;
    private final Supplier<@Nullable String> abortReason;
    private final BlockingQueue<Load> loads = new LinkedBlockingQueue<>();
    private final Thread thread;
    private boolean isServed;
    private @Nullable RuntimeException closeFailure;

    /** Sends of one run. */
    static final class Load {
        private final long endNanos;
        private final CompletableFuture<Long> sent = new CompletableFuture<>();

        private Load(long endNanos) {
            this.endNanos = endNanos;
        }

        /** Whether all its messages are in buffers of the peer, or it has failed. Any thread. */
        boolean isOver() {
            return sent.isDone();
        }

        /**
         * Number of messages sent, after its end.
         *
         * @throws DpuException if it has failed
         */
        long sent() {
            try {
                return sent.join();
            } catch (CompletionException e) {
                throw e.getCause() instanceof DpuException failure ? failure : e;
            }
        }
    }

    /**
     * Starts the thread, which creates its producer.
     *
     * @param hostEngine woken at the end of each load
     * @param abortReason not null once the measurement is to end; asked on the new thread
     */
    ProducerThread(
            ComchPlan plan,
            Device device,
            ComchConnection connection,
            int remoteConsumer,
            ProgressEngine hostEngine,
            Supplier<@Nullable String> abortReason) {
        this.plan = plan;
        this.device = device;
        this.connection = connection;
        this.remoteConsumer = remoteConsumer;
        this.hostEngine = hostEngine;
        this.abortReason = abortReason;
        thread = Thread.ofPlatform().name("softdpu-perf-producer").start(this::run);
    }

    /** Begins a load that lasts until a moment of {@link System#nanoTime()}. */
    Load begin(long endNanos) {
        Load load = new Load(endNanos);
        loads.add(load);
        return load;
    }

    private void run() {
        try (ResourceStack resources = new ResourceStack()) {
            SideDevice.pin(Side.HOST, plan.cpus());
            ProgressEngine engine = resources.keep(ProgressEngine.create());
            EngineTurns turns = plan.turnsOf(engine, plan.waiting());
            MessagePool messages =
                    resources.keep(new MessagePool(device, plan.window(), plan.sizeBytes()));
            ComchProducer producer = ComchProducer.create(connection);
            Outgoing sends = new Outgoing(plan, messages, producer);
            resources.keep(() -> stop(producer, sends, engine));
            engine.connect(producer);
            producer.start();
            await(turns, () -> producer.state() == ContextState.RUNNING);
            sends.fill(remoteConsumer);
            serve(turns, sends);
            isServed = true;
        } catch (RuntimeException e) {
            fail(e);
        } catch (Error e) { // reported as the failure of the measurement, not of a thread
            fail(failureOf(e));
        }
    }

    private void fail(RuntimeException failure) {
        if (isServed) {
            closeFailure = failure; // read after the thread has ended
        } else {
            failAll(failure);
        }
    }

    private static DpuException failureOf(Error e) {
        return new DpuException(
                Status.UNEXPECTED, "thread of a producer failed: reason=" + Reason.of(e), e);
    }

    private void serve(EngineTurns turns, Outgoing sends) {
        for (Load load = next(); load != END; load = next()) {
            try {
                load.sent.complete(send(load, turns, sends));
            } catch (RuntimeException e) {
                load.sent.completeExceptionally(e);
            } catch (Error e) {
                load.sent.completeExceptionally(failureOf(e));
            } finally {
                hostEngine.wake();
            }
        }
    }

    private long send(Load load, EngineTurns turns, Outgoing sends) {
        long sent = 0;
        int timedEach = PerfPlan.operationsPerTimed(plan.sizeBytes());
        long now = System.nanoTime();
        long deadline = now + plan.deadlineNanos();
        while (now - load.endNanos < 0) {
            while (sends.trySend(sent % timedEach == 0 ? System.nanoTime() : 0)) {
                sent++;
            }
            boolean progressed = turn(turns);
            now = System.nanoTime();
            if (progressed) {
                deadline = now + plan.deadlineNanos();
            } else {
                check(deadline);
            }
        }
        await(turns, sends::allSent);
        return sent;
    }

    private void await(EngineTurns turns, BooleanSupplier condition) {
        long deadline = System.nanoTime() + plan.deadlineNanos();
        while (!condition.getAsBoolean()) {
            if (!turn(turns)) {
                check(deadline);
            }
        }
    }

    private boolean turn(EngineTurns turns) {
        String reason = abortReason.get();
        if (reason != null) {
            throw new DpuException(Status.CONNECTION_ABORTED, reason);
        }
        return turns.turn();
    }

    private void check(long deadline) {
        if (System.nanoTime() - deadline > 0) {
            throw new DpuException(
                    Status.TIME_OUT,
                    "peer takes no messages of a producer: waitedMillis="
                            + TimeUnit.NANOSECONDS.toMillis(plan.deadlineNanos()));
        }
    }

    private static void stop(ComchProducer producer, Outgoing sends, ProgressEngine engine) {
        sends.freeIdle();
        producer.stop();
        long deadline = System.nanoTime() + ComchSide.ABORTED_NANOS;
        while (producer.state() != ContextState.IDLE && System.nanoTime() - deadline < 0) {
            engine.await(EngineTurns.TURN);
            sends.freeIdle(); // also those that come back only now
        }
        producer.close();
    }

    /** For a thread that could not begin: what it is asked for fails, too. */
    private void failAll(RuntimeException failure) {
        for (Load load = next(); load != END; load = next()) {
            load.sent.completeExceptionally(failure);
            hostEngine.wake();
        }
    }

    private Load next() {
        try {
            return loads.take();
        } catch (InterruptedException e) {
            return END; // nothing interrupts it; it ends anyway
        }
    }

    /** Ends the thread, and with it the producer. */
    @Override
    public void close() {
        loads.add(END);
        try {
            if (!thread.join(Duration.ofNanos(plan.deadlineNanos()))) {
                throw new DpuException(
                        Status.TIME_OUT,
                        "thread of a producer does not end: waitedMillis="
                                + TimeUnit.NANOSECONDS.toMillis(plan.deadlineNanos()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        if (closeFailure != null) {
            throw closeFailure;
        }
    }
}
