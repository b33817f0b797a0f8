package io.softdpu.fabric.link;

import io.softdpu.linux.event.Poller;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.util.Set;

/**
 * Sleep in a poller that {@link Thread#interrupt} ends. A thread in a system call does not notice
 * an interrupt; the only hook of the JDK that is called for one is that of selectors, so this is a
 * selector, of no channels, whose wake-up ends the wait of the poller.
 *
 * <p>Belongs to the thread of the poller; allocates nothing after it was created.
 */
final class Interruption extends AbstractSelector {
    private final Poller poller;

    Interruption(Poller poller) {
        super(null); // it has no channels, and nothing asks it for a provider
        this.poller = poller;
    }

    /** As {@link Poller#poll}; ends at once, with 0, if the thread is or becomes interrupted. */
    int poll(long timeoutNanos) {
        begin();
        try {
            return poller.poll(timeoutNanos);
        } finally {
            end();
        }
    }

    /** The interrupting thread calls this, also when the sleep has just ended. */
    @Override
    public Selector wakeup() {
        poller.endWait();
        return this;
    }

    @Override
    protected void implCloseSelector() {
        // The poller is closed by its owner.
    }

    @Override
    protected SelectionKey register(AbstractSelectableChannel channel, int ops, Object attachment) {
        throw new UnsupportedOperationException("has no channels");
    }

    @Override
    public Set<SelectionKey> keys() {
        return Set.of();
    }

    @Override
    public Set<SelectionKey> selectedKeys() {
        return Set.of();
    }

    @Override
    public int selectNow() {
        return 0;
    }

    @Override
    public int select(long timeoutMillis) {
        throw new UnsupportedOperationException("has no channels");
    }

    @Override
    public int select() {
        throw new UnsupportedOperationException("has no channels");
    }
}
