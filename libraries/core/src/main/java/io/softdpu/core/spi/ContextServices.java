package io.softdpu.core.spi;

import io.softdpu.core.copy.Copier;
import io.softdpu.core.execution.DescriptorCallback;
import io.softdpu.core.execution.DescriptorWatch;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.internal.engine.EngineImpl;

/**
 * Services of a context's engine, for the parts of a library that are not the context, and for a
 * provider below it. {@link BusServices} has what only libraries on the bus need. Valid while the
 * context is connected to its engine.
 */
public final class ContextServices {
    private final ProgressEngine engine;
    private final EngineImpl impl;

    ContextServices(ProgressEngine engine, EngineImpl impl) {
        this.engine = engine;
        this.impl = impl;
    }

    /** The engine: a context that consists of others connects them to it. The engine's thread. */
    public ProgressEngine engine() {
        return engine;
    }

    /**
     * The engine's copier, for the context and objects that copy for it; to be kept in a field. The
     * engine's thread.
     */
    public Copier copier() {
        return impl.copier();
    }

    /**
     * Watches a file descriptor of the library, level-triggered: the callback runs inside progress
     * while it is ready, and ends the engine's sleep. The engine's thread.
     *
     * @param interest constants of {@link DescriptorWatch}, or-ed
     * @return the watch; the library closes it before the descriptor and with its context
     * @throws io.softdpu.core.DpuException as {@link ProgressEngine#watch}
     */
    public DescriptorWatch watch(int descriptor, int interest, DescriptorCallback callback) {
        return engine.watch(descriptor, interest, callback);
    }

    /**
     * Creates a timer, to be set and cancelled as often as needed: the callback runs inside
     * progress after each deadline, at which the engine's sleep ends. The engine's thread.
     *
     * @return the timer; the library cancels it with its context
     * @throws io.softdpu.core.DpuException as {@link ProgressEngine#timer}
     */
    public EngineTimer timer(Runnable callback) {
        return engine.timer(callback);
    }

    /**
     * Progresses until something happens, for a call of the library that waits: as {@link
     * ProgressEngine#awaitUntil}, but an interrupt is left to the caller, who knows what is
     * awaited. The engine's thread, outside callbacks; allocates nothing.
     *
     * @param nanoTime the end of the wait in terms of {@link System#nanoTime}
     * @return whether any work was done: only where there was none an interrupt counts
     */
    public boolean awaitUntil(long nanoTime) {
        return impl.awaitOrInterrupt(Math.max(0, nanoTime - System.nanoTime()));
    }

    /**
     * Ends the engine's current or next sleep: for work that the context finds in its next progress
     * or arm. Any thread; allocates nothing. Does not end an await of the user, as {@link
     * ProgressEngine#wake} does.
     */
    public void wake() {
        impl.poller().wake();
    }

    /** Posts work to the engine's thread, which runs it in the next progress. Any thread. */
    public void post(Runnable work) {
        impl.mailbox().post(work);
    }

    /** Keeps an exception of a user's callback; progress throws it at the end of this pass. */
    public void callbackFailed(Throwable thrown) {
        impl.callbackFailed(thrown);
    }

    EngineImpl impl() {
        return impl;
    }
}
