package io.softdpu.core.spi;

import io.softdpu.core.copy.Copier;
import io.softdpu.core.execution.DescriptorCallback;
import io.softdpu.core.execution.DescriptorWatch;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.internal.engine.EngineCore;

/**
 * Services of a context's engine, for the parts of a library that are not the context, and for a
 * provider below it. {@link BusServices} has what only libraries on the bus need. Valid while the
 * context is connected to its engine.
 */
public final class ContextServices {
    private final ProgressEngine engine;
    private final EngineCore core;

    ContextServices(ProgressEngine engine, EngineCore core) {
        this.engine = engine;
        this.core = core;
    }

    /**
     * The one object through which the context copies, and whoever does so for it; to be kept, not
     * asked for with each copy. The engine's thread.
     */
    public Copier copier() {
        return core.copier();
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
     * Makes a timer, to be set and cancelled as often as needed: the callback runs inside progress
     * after each deadline, at which the engine's sleep ends. The engine's thread.
     *
     * @return the timer; the library cancels it with its context
     * @throws io.softdpu.core.DpuException as {@link ProgressEngine#timer}
     */
    public EngineTimer timer(Runnable callback) {
        return engine.timer(callback);
    }

    /**
     * Ends the engine's sleep, or the next one: for news that the context finds in its next
     * progress, or when it is asked to arm. Any thread; allocates nothing. Does not end an await of
     * the user, as {@link ProgressEngine#wake} does.
     */
    public void wake() {
        core.waiter().wake();
    }

    /** Leaves work for the engine's thread; it runs in the engine's next progress. Any thread. */
    public void post(Runnable work) {
        core.mailbox().post(work);
    }

    /** Keeps what a user's callback threw; progress throws it when this pass is over. */
    public void callbackFailed(Throwable thrown) {
        core.callbackFailed(thrown);
    }

    EngineCore core() {
        return core;
    }
}
