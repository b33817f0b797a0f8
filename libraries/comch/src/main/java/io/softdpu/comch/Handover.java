package io.softdpu.comch;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Hands one result of the bus to an engine that may have lost interest meanwhile, and may not even
 * progress any more. Exactly one side has the result in the end: the engine, if the bus was first
 * and the engine takes it; else whoever comes second, to dispose of it. Any thread.
 */
@SuppressWarnings("ReferenceEquality") // REFUSED is one object and equal to nothing else
final class Handover<T> {
    private static final Object REFUSED = new Object();

    private final AtomicReference<@Nullable Object> state = new AtomicReference<>();

    /** On the bus thread; false if nobody wants the result: the caller disposes of it. */
    boolean offer(T result) {
        return state.compareAndSet(null, result);
    }

    /** The engine wants it no more; the result, if it has come: the caller disposes of it. */
    @SuppressWarnings("unchecked") // only offer puts anything else but REFUSED in
    @Nullable T refuse() {
        Object before = state.getAndSet(REFUSED);
        return before == REFUSED ? null : (T) before;
    }

    /** Whether the result may be used: it was not refused. On the engine's thread. */
    boolean isWanted() {
        return state.get() != REFUSED;
    }
}
