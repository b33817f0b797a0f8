package io.softdpu.core.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Interrupts;
import io.softdpu.core.check.Threads;
import io.softdpu.linux.text.Text;
import org.jspecify.annotations.Nullable;

/**
 * Operations and waits of a sync event in synchronous mode, from its start to its stop, and the
 * threads that its two halves belong to. Updates are those of the publishing half, one at a time.
 * Allocates nothing.
 */
final class SynchronousOperations extends CounterAccess {
    private final SyncEvent event;

    /** The threads that the halves belong to; written under the lock, and compared without it. */
    private @Nullable Thread publisher;

    private @Nullable Thread subscriber;
    private volatile boolean stopped;

    SynchronousOperations(SyncEvent event, EventHandle handle) {
        super(handle);
        this.event = event;
    }

    /** Ends the waits that threads are in. */
    void stop() {
        stopped = true;
    }

    // ---- publishing ----

    @Override
    void set(long value) {
        try {
            requirePublisher();
            super.set(value);
        } catch (IllegalStateException e) {
            throw closedMeanwhile(e);
        }
    }

    @Override
    long add(long increment) {
        try {
            requirePublisher();
            return super.add(increment);
        } catch (IllegalStateException e) {
            throw closedMeanwhile(e);
        }
    }

    @SuppressWarnings("ReferenceEquality") // threads are compared by identity
    private void requirePublisher() {
        if (publisher != Thread.currentThread()) {
            claimPublisher();
        }
        handle().requireUsable(event);
    }

    // ---- subscribing ----

    @Override
    long get() {
        try {
            requireSubscriber();
            return super.get();
        } catch (IllegalStateException e) {
            throw closedMeanwhile(e);
        }
    }

    /**
     * Waits until the masked value meets a condition.
     *
     * @param limitNanos time limit; {@link Long#MAX_VALUE} for none
     * @param yielding whether to yield the processor between two looks
     */
    @SuppressWarnings("ThreadPriorityCheck") // the guide's way of waiting
    void await(
            WaitCondition condition, long operand, long mask, long limitNanos, boolean yielding) {
        try {
            requireSubscriber();
            long begin = limitNanos == Long.MAX_VALUE ? 0 : System.nanoTime();
            while (!condition.isMet(super.get(), operand, mask)) {
                if (stopped) {
                    throw new DpuException(
                            Status.SHUTDOWN, "event was stopped during a wait: event=" + event);
                }
                handle().requireUsable(event);
                if (Interrupts.isPending()) {
                    throw Interrupts.ended("SyncEvent.wait", describe(condition, operand, mask));
                }
                if (limitNanos != Long.MAX_VALUE && System.nanoTime() - begin >= limitNanos) {
                    throw new DpuException(
                            Status.TIME_OUT,
                            Text.format(
                                    "wait takes too long: %s, timeoutNanos=%d",
                                    describe(condition, operand, mask), limitNanos));
                }
                if (yielding) {
                    Thread.yield();
                } else {
                    Thread.onSpinWait();
                }
            }
        } catch (IllegalStateException e) {
            throw closedMeanwhile(e);
        }
    }

    /** A wait, for messages. */
    private String describe(WaitCondition condition, long operand, long mask) {
        return Text.format(
                "event=%s, condition=%s, operand=%s, mask=0x%x, value=%s",
                event,
                condition,
                Long.toUnsignedString(operand),
                mask,
                Long.toUnsignedString(super.get()));
    }

    @SuppressWarnings("ReferenceEquality") // threads are compared by identity
    private void requireSubscriber() {
        if (subscriber != Thread.currentThread()) {
            claimSubscriber();
        }
        handle().requireUsable(event);
    }

    // ---- internal ----

    private synchronized void claimPublisher() {
        publisher = claimed("publishing", publisher);
    }

    private synchronized void claimSubscriber() {
        subscriber = claimed("subscribing", subscriber);
    }

    @SuppressWarnings("ReferenceEquality") // threads are compared by identity
    private Thread claimed(String half, @Nullable Thread owner) {
        Thread current = Thread.currentThread();
        if (owner != null && owner != current) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "%s half of the event belongs to another thread: thread=%s,"
                                + " eventThread=%s, event=%s, expected=the thread that used this"
                                + " half first",
                            half, Threads.describe(current), Threads.describe(owner), event));
        }
        return current;
    }

    private DpuException closedMeanwhile(IllegalStateException e) {
        return new DpuException(
                Status.BAD_STATE, "event was closed by another thread: event=" + event, e);
    }
}
