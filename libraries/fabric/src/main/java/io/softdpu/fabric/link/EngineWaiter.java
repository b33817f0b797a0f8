package io.softdpu.fabric.link;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.event.Poller;
import io.softdpu.linux.event.Registration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Where an engine sleeps: a {@link Poller} over the doorbells of its links, with the wake-ups of
 * this process, and the engine's own {@linkplain EngineEvents descriptors and deadlines} below it.
 *
 * <p>The engine's thread adds, removes, sleeps and clears; any thread may {@link #wake()}. The
 * order that loses nothing: arm the rings, look again (rings and mailbox), sleep.
 */
public final class EngineWaiter implements AutoCloseable {
    private final Poller poller;
    private @Nullable Doorbell[] doorbells = new @Nullable Doorbell[8];

    /**
     * Creates a waiter without links.
     *
     * @throws FabricException SYSTEM if this process has no descriptors left
     */
    public EngineWaiter() {
        try {
            poller = new Poller();
        } catch (LinuxException e) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM, "engine cannot sleep: " + e.getMessage(), e);
        }
    }

    /**
     * The epoll descriptor: constant, readable whenever something rang; for poll or epoll outside.
     */
    public int handle() {
        return poller.fd();
    }

    /**
     * Listens for the link's doorbell. A link has at most one waiter.
     *
     * @throws FabricException SYSTEM if the kernel lets this user watch nothing more
     */
    public void add(Link link) {
        int index = 0;
        while (index < doorbells.length && doorbells[index] != null) {
            index++;
        }
        if (index == doorbells.length) {
            doorbells = Arrays.copyOf(doorbells, index * 2);
        }
        Doorbell doorbell = new Doorbell(link);
        try {
            doorbell.registration = link.listen(poller, doorbell);
        } catch (LinuxException e) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM,
                    "doorbell cannot be listened for: " + e.getMessage(),
                    e);
        }
        if (doorbell.registration != null) {
            doorbells[index] = doorbell;
        }
    }

    /** Stops listening; does nothing for a link that was not added. */
    public void remove(Link link) {
        for (int i = 0; i < doorbells.length; i++) {
            Doorbell doorbell = doorbells[i];
            if (doorbell != null && doorbell.link == link) {
                doorbells[i] = null;
                doorbell.end();
            }
        }
    }

    /** Ends a sleep now or the next one. Any thread; a syscall only if none is pending already. */
    public void wake() {
        poller.wake();
    }

    /**
     * Sleeps until something rings, at most the given time and never less; what rang has been
     * drained.
     *
     * @param timeoutNanos 0 looks without sleeping; negative waits without limit
     * @return whether something rang
     */
    public boolean sleep(long timeoutNanos) {
        return poller.poll(timeoutNanos) > 0;
    }

    /** Drains what has rung, without sleeping. */
    public void clear() {
        sleep(0);
    }

    /** Closes the waiter's descriptors. Links stay with their owners. */
    @Override
    public void close() {
        poller.close();
    }

    /** For the engine's events: a poller below this one, which ends a sleep as a doorbell does. */
    Registration addBelow(Poller below, Poller.Handler handler) {
        return poller.add(below.fd(), 0, handler);
    }

    /** A link that is listened to. */
    private final class Doorbell implements Poller.Handler {
        private final Link link;
        private @Nullable Registration registration;

        private Doorbell(Link link) {
            this.link = link;
        }

        @Override
        public void onReady(int events) {
            if (!link.drain()) {
                remove(link); // the peer is gone: epoll would report that for ever
            }
        }

        private void end() {
            if (registration != null) {
                link.unlisten(registration);
            }
        }
    }
}
