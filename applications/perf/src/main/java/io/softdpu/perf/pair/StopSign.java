package io.softdpu.perf.pair;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Request to a measuring thread to stop: raised by an abort, at the end of the other process, or
 * after a time limit. It interrupts the thread, since a synchronous wait looks at nothing else.
 * {@link #close} ends the time limit, and clears the interrupt of its thread. Any thread raises it;
 * the rest belongs to the thread that makes it.
 */
public final class StopSign implements AutoCloseable {
    private final Thread measuring = Thread.currentThread();
    private final Runnable unblocking;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile @Nullable DpuException reason;
    private boolean isClosed;

    /**
     * Begins the time limit.
     *
     * @param unblocking ends what an interrupt does not; called once, on the thread that raises it
     */
    public StopSign(long limitNanos, Runnable unblocking) {
        this.unblocking = unblocking;
        Thread.ofPlatform().daemon().name("softdpu-perf-limit").start(() -> raiseAfter(limitNanos));
    }

    private void raiseAfter(long nanos) {
        try {
            if (!closed.await(nanos, TimeUnit.NANOSECONDS)) {
                raise(
                        new DpuException(
                                Status.TIME_OUT,
                                "measurement takes too long: waitedMillis="
                                        + TimeUnit.NANOSECONDS.toMillis(nanos)));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // nothing interrupts it; it ends anyway
        }
    }

    /** Stops the measurement, for the first reason that is given. */
    public synchronized void raise(DpuException why) {
        if (reason == null && !isClosed) {
            reason = why;
            measuring.interrupt();
            unblocking.run();
        }
    }

    /**
     * Checks that the measurement may go on.
     *
     * @throws DpuException the reason why it may not
     */
    public void check() {
        DpuException why = reason;
        if (why != null) {
            throw why;
        }
    }

    /** Why it is to stop; null if it is not. */
    public @Nullable DpuException reason() {
        return reason;
    }

    @Override
    public void close() {
        synchronized (this) {
            isClosed = true;
        }
        closed.countDown();
        if (reason != null) {
            Thread.interrupted(); // raised here: what follows is the orderly end
        }
    }
}
