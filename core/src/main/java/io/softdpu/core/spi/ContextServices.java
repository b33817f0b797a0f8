package io.softdpu.core.spi;

import io.softdpu.fabric.EngineWaiter;
import io.softdpu.fabric.Mailbox;
import io.softdpu.fabric.PayloadCopy;

/**
 * What of a context's engine a provider needs: a library hands it down without having to know the
 * bus itself. Good while the context is connected to its engine.
 */
public final class ContextServices {
    private final EngineWaiter waiter;
    private final PayloadCopy copier;
    private final Mailbox mailbox;

    ContextServices(EngineWaiter waiter, PayloadCopy copier, Mailbox mailbox) {
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

    /** Leaves work for the engine's thread; it runs in the engine's next progress. Any thread. */
    public void post(Runnable work) {
        mailbox.post(work);
    }
}
