package io.softdpu.comch;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Transfer of one asynchronous result of the bus to an engine that may cancel it at any time.
 * Exactly one side owns the result: the engine, if it was offered and not cancelled; otherwise the
 * side that comes second, which has to dispose of it. Any thread.
 */
@SuppressWarnings("ReferenceEquality") // CANCELLED is one object and equal to nothing else
final class ResultHandoff<T> {
    private static final Object CANCELLED = new Object();

    private final AtomicReference<@Nullable Object> state = new AtomicReference<>();

    /**
     * Offers the result, on the bus thread; false if it was cancelled: the caller disposes of it.
     */
    boolean offer(T result) {
        return state.compareAndSet(null, result);
    }

    /** Cancels; returns a result that was offered before: the caller disposes of it. */
    @SuppressWarnings("unchecked") // only offer stores anything but CANCELLED
    @Nullable T cancel() {
        Object before = state.getAndSet(CANCELLED);
        return before == CANCELLED ? null : (T) before;
    }

    /** Whether the result must not be used. On the engine's thread. */
    boolean isCancelled() {
        return state.get() == CANCELLED;
    }
}
