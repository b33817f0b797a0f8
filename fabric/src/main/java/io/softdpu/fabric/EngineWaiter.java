package io.softdpu.fabric;

import io.softdpu.linux.Epoll;
import io.softdpu.linux.EventFd;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.LinuxException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Where an engine sleeps: an epoll over the doorbells of its links and an eventfd of this process.
 *
 * <p>The engine's thread adds, removes, sleeps and clears; any thread may {@link #wake()}. The
 * order that loses nothing: arm the rings, look again (rings and mailbox), sleep.
 */
public final class EngineWaiter implements AutoCloseable {
    private static final int EVENTS_AT_ONCE = 64;
    private static final long WAKE_KEY = -1;

    private final Epoll epoll;
    private final int wakeDescriptor;
    private final AtomicBoolean signalled = new AtomicBoolean();
    private @Nullable Link[] links = new @Nullable Link[8];
    private volatile boolean closed;

    /**
     * Creates a waiter without links.
     *
     * @throws FabricException SYSTEM if this process has no descriptors left
     */
    public EngineWaiter() {
        Epoll made = null;
        int descriptor = -1;
        try {
            made = new Epoll(EVENTS_AT_ONCE);
            descriptor = EventFd.create();
            made.add(descriptor, Epoll.IN, WAKE_KEY);
        } catch (LinuxException e) {
            if (descriptor >= 0) {
                FileDescriptors.close(descriptor);
            }
            if (made != null) {
                made.close();
            }
            throw new FabricException(
                    FabricException.Kind.SYSTEM, "engine cannot sleep: " + e.getMessage(), e);
        }
        epoll = made;
        wakeDescriptor = descriptor;
    }

    /**
     * The epoll descriptor: constant, readable whenever something rang; for poll or epoll outside.
     */
    public int handle() {
        return epoll.fd();
    }

    /**
     * Listens for the link's doorbell. A link has at most one waiter.
     *
     * @throws FabricException SYSTEM if the kernel lets this user watch nothing more
     */
    public void add(Link link) {
        int index = 0;
        while (index < links.length && links[index] != null) {
            index++;
        }
        if (index == links.length) {
            @Nullable Link[] wider = new @Nullable Link[links.length * 2];
            System.arraycopy(links, 0, wider, 0, links.length);
            links = wider;
        }
        try {
            if (link.listen(epoll, index)) {
                links[index] = link;
            }
        } catch (LinuxException e) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM,
                    "doorbell cannot be listened for: " + e.getMessage(),
                    e);
        }
    }

    /** Stops listening; does nothing for a link that was not added. */
    public void remove(Link link) {
        for (int i = 0; i < links.length; i++) {
            if (links[i] == link) {
                links[i] = null;
                link.unlisten(epoll);
            }
        }
    }

    /** Ends a sleep now or the next one. Any thread; a syscall only if none is pending already. */
    public void wake() {
        if (signalled.compareAndSet(false, true)) {
            synchronized (signalled) { // only beside a close, which must not free the number yet
                if (!closed) {
                    EventFd.signal(wakeDescriptor);
                }
            }
        }
    }

    /**
     * Sleeps until something rings, at most the given time (rounded up to milliseconds); what rang
     * has been drained.
     *
     * @param timeoutNanos 0 looks without sleeping; negative waits without limit
     * @return whether something rang
     */
    public boolean sleep(long timeoutNanos) {
        int millis =
                timeoutNanos < 0
                        ? -1
                        : (int) Math.min(Integer.MAX_VALUE, (timeoutNanos + 999_999) / 1_000_000);
        int count = epoll.await(millis);
        for (int i = 0; i < count; i++) {
            long key = epoll.data(i);
            if (key == WAKE_KEY) {
                // Drained before the flag falls: a wake in between finds the flag up and does not
                // signal, but what it announces is seen, since the engine looks before it sleeps.
                EventFd.drain(wakeDescriptor);
                signalled.set(false);
            } else {
                Link link = links[(int) key];
                if (link != null && !link.drain()) {
                    remove(link); // the peer is gone: epoll would report that for ever
                }
            }
        }
        return count > 0;
    }

    /** Drains what has rung, without sleeping. */
    public void clear() {
        sleep(0);
    }

    /** Closes both descriptors. Links stay with their owners. */
    @Override
    public void close() {
        if (!closed) {
            signalled.set(true); // nobody needs to try any more
            epoll.close();
            synchronized (signalled) {
                closed = true;
                FileDescriptors.close(wakeDescriptor);
            }
        }
    }
}
