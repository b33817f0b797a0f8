package io.softdpu.core.spi;

import io.softdpu.core.execution.DescriptorCallback;
import io.softdpu.core.execution.DescriptorWatch;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.fabric.engine.PayloadCopy;
import io.softdpu.fabric.link.EngineWaiter;
import io.softdpu.fabric.link.Mailbox;

/**
 * What of a context's engine a provider needs: a library hands it down without having to know the
 * bus itself. Good while the context is connected to its engine.
 */
public final class ContextServices {
    private final ProgressEngine engine;
    private final EngineWaiter waiter;
    private final PayloadCopy copier;
    private final Mailbox mailbox;

    ContextServices(
            ProgressEngine engine, EngineWaiter waiter, PayloadCopy copier, Mailbox mailbox) {
        this.engine = engine;
        this.waiter = waiter;
        this.copier = copier;
        this.mailbox = mailbox;
    }

    /**
     * Where the engine sleeps: add the links whose doorbells are to wake it. The engine's thread.
     */
    public EngineWaiter waiter() {
        return waiter;
    }

    /** The one object through which the provider copies. The engine's thread. */
    public PayloadCopy copier() {
        return copier;
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
        waiter.wake();
    }

    /** Leaves work for the engine's thread; it runs in the engine's next progress. Any thread. */
    public void post(Runnable work) {
        mailbox.post(work);
    }
}
