package io.softdpu.core.sync;

import io.softdpu.core.Status;
import io.softdpu.core.sync.wire.HandlePage;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.SharedSegment;
import java.lang.foreign.MemorySegment;

/**
 * Link between a DPU handle or remote event and the process of the CPU handle, with the page that
 * the two share: on one side for each that has joined, on the other for the CPU handle. It is
 * released when its owner and all threads that listen to it have released it.
 *
 * <p>Any thread. The other process may write anything into the page at any time; each word is
 * loaded once, and any value is legal. A thread that looks at the page holds the peer, has the lock
 * of the handle, or does so by a {@link CounterAccess}.
 */
final class Peer {
    private final ImportKind kind;
    private final Bus bus;
    private final Link link;
    private final SharedSegment memory;
    private final MemorySegment page;
    private int holders = 1;

    /**
     * Takes over the link and a reference to the page's memory.
     *
     * @param kind what has joined by the link
     */
    Peer(ImportKind kind, Bus bus, Link link, SharedSegment memory) {
        this.kind = kind;
        this.bus = bus;
        this.link = link;
        this.memory = memory;
        this.page = memory.segment();
    }

    Link link() {
        return link;
    }

    ImportKind kind() {
        return kind;
    }

    /** Whether the other process has closed its end, or has ended. */
    boolean isGone() {
        return link.peerGone();
    }

    /** Keeps link and page open; false if they have been released. */
    synchronized boolean hold() {
        if (holders == 0) {
            return false;
        }
        holders++;
        return true;
    }

    /** Ends {@link #hold()}; the last one releases link and page. */
    synchronized void release() {
        holders--;
        if (holders == 0) {
            link.close();
            bus.release(memory);
        }
    }

    // ---- in the process of the CPU handle ----

    /** Whether the handle's process wants a doorbell. */
    boolean isArmed() {
        return HandlePage.isArmed(page);
    }

    /**
     * Rings if the handle's process wants that and has not seen this value.
     *
     * @return whether it was rung
     */
    boolean ringIfChanged(long value) {
        if (!HandlePage.isArmed(page)
                || HandlePage.seen(page) == value
                || !HandlePage.takeArmed(page)) {
            return false;
        }
        link.ring();
        return true;
    }

    void setWanted(boolean wanted) {
        HandlePage.setWanted(page, wanted);
    }

    void setRelayed(boolean relayed) {
        HandlePage.setRelayed(page, relayed);
    }

    /** Tells the handle that the event was destroyed. */
    void end() {
        HandlePage.end(page);
        link.shutdownOutput();
    }

    /**
     * Tells the handle that the event was destroyed, and leaves the link as it is: whether the
     * other process hangs up can be seen on a link alone that this side has not shut down.
     */
    void endUntilHangUp() {
        HandlePage.end(page);
        link.ring();
    }

    // ---- in the process of the DPU handle or remote event ----

    /** SUCCESS, or why the event cannot be used any more: SHUTDOWN or CONNECTION_RESET. */
    Status ended() {
        if (!HandlePage.isEnded(page) && !isGone()) {
            return Status.SUCCESS;
        }
        return HandlePage.isEnded(page) ? Status.SHUTDOWN : Status.CONNECTION_RESET;
    }

    void arm(long seen) {
        HandlePage.arm(page, seen);
    }

    void disarm() {
        HandlePage.disarm(page);
    }

    boolean isRelayed() {
        return HandlePage.isRelayed(page);
    }

    /** Rings if an update is to be followed by a doorbell: one load if not. */
    void ringIfWanted() {
        if (HandlePage.isWanted(page) && HandlePage.takeWanted(page)) {
            link.ring();
        }
    }
}
