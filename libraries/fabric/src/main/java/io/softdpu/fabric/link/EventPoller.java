package io.softdpu.fabric.link;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.event.Poller;
import io.softdpu.linux.event.Registration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Poller in which an engine sleeps: the doorbells of its links, wake-ups by other threads of this
 * process, and the engine's {@linkplain EngineEvents descriptors and deadlines}.
 *
 * <p>The engine's thread adds, removes, sleeps and clears; any thread may {@link #wake()}. To lose
 * no wake-up: arm the rings, poll again (rings and mailbox), sleep.
 */
public final class EventPoller implements AutoCloseable {
    private final Poller poller;
    private final Interruption interruption;
    private @Nullable Doorbell[] doorbells = new @Nullable Doorbell[8];

    /**
     * Creates a poller without links.
     *
     * @throws FabricException SYSTEM if this process has no descriptors left
     */
    public EventPoller() {
        try {
            poller = new Poller();
        } catch (LinuxException e) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM, "engine cannot sleep: " + e.getMessage(), e);
        }
        interruption = new Interruption(poller);
    }

    /**
     * The epoll descriptor: constant, readable while a doorbell or wake-up is pending; for poll or
     * epoll of the program.
     */
    public int handle() {
        return poller.fd();
    }

    /**
     * Listens for the link's doorbell.
     *
     * @throws FabricException SYSTEM if the limit of epoll watches of this user is reached
     */
    public void add(Link link) {
        add(link, () -> {});
    }

    /**
     * Listens for the link's doorbell, until it has been removed as often as it was added. Several
     * engines may listen for one: a doorbell may wake all of them or only one, whose action has to
     * wake the others.
     *
     * @param action runs on this engine's thread after each doorbell; the first one is kept
     * @throws FabricException SYSTEM if the limit of epoll watches of this user is reached
     */
    public void add(Link link, Runnable action) {
        int present = find(link);
        if (present >= 0) {
            doorbells[present].users++;
            return;
        }
        int index = find(null);
        if (index < 0) {
            index = doorbells.length;
            doorbells = Arrays.copyOf(doorbells, index * 2);
        }
        Doorbell doorbell = new Doorbell(link, action);
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
        int index = find(link);
        if (index >= 0 && --doorbells[index].users == 0) {
            removeAt(index);
        }
    }

    private void removeAt(int index) {
        Doorbell ended = doorbells[index];
        doorbells[index] = null;
        ended.end();
    }

    /** Index of a link's doorbell, or of a free entry; -1 if there is none. */
    private int find(@Nullable Link link) {
        for (int i = 0; i < doorbells.length; i++) {
            Doorbell doorbell = doorbells[i];
            if ((doorbell == null ? null : doorbell.link) == link) {
                return i;
            }
        }
        return -1;
    }

    /** Ends a sleep now or the next one. Any thread; a syscall only if none is pending already. */
    public void wake() {
        poller.wake();
    }

    /**
     * Sleeps until a doorbell or a wake-up, or until the timeout and never less, or until the
     * thread is interrupted, at once if it is; drains the doorbells.
     *
     * @param timeoutNanos 0 polls without sleeping; negative waits without limit
     * @return whether there was a doorbell or a wake-up; an interrupt is none, and stays set
     */
    public boolean sleep(long timeoutNanos) {
        if (timeoutNanos == 0) {
            return poller.poll(0) > 0;
        }
        long begin = System.nanoTime();
        long leftNanos = timeoutNanos;
        do {
            if (interruption.poll(leftNanos) > 0) {
                return true;
            }
            if (Thread.currentThread().isInterrupted()) {
                return false;
            }
            // An interrupt that was cleared meanwhile may have ended the wait too early.
            leftNanos = timeoutNanos < 0 ? -1 : timeoutNanos - (System.nanoTime() - begin);
        } while (timeoutNanos < 0 || leftNanos > 0);
        return false;
    }

    /** The same, but the interrupt of the thread changes nothing: for the end of an object. */
    public boolean sleepUninterrupted(long timeoutNanos) {
        return poller.poll(timeoutNanos) > 0;
    }

    /** Drains pending doorbells and wake-ups, without sleeping. */
    public void clear() {
        sleep(0);
    }

    /** Closes the poller's descriptors. Links stay with their owners, and refer to it no more. */
    @Override
    public void close() {
        for (int i = 0; i < doorbells.length; i++) {
            if (doorbells[i] != null) {
                removeAt(i);
            }
        }
        poller.close();
    }

    /** Nests the poller of the engine's events in this one; it ends a sleep as a doorbell does. */
    Registration addNested(Poller below, Poller.Handler handler) {
        return poller.add(below.fd(), 0, handler);
    }

    /** Handler of a link's doorbell. */
    private final class Doorbell implements Poller.Handler {
        private final Link link;
        private final Runnable action;
        private @Nullable Registration registration;
        private int users = 1;

        private Doorbell(Link link, Runnable action) {
            this.link = link;
            this.action = action;
        }

        @Override
        public void onReady(int events) {
            if (!link.drain()) {
                int index = find(link);
                if (index >= 0) {
                    removeAt(index); // the peer is gone: epoll would report that without end
                }
            }
            action.run();
        }

        private void end() {
            if (registration != null) {
                link.unlisten(registration);
            }
        }
    }
}
