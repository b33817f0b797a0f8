package io.softdpu.core.sync;

import io.softdpu.core.Status;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.memory.SharedSegment;
import java.lang.invoke.VarHandle;

/**
 * DPU handle: the counter of another process, and the page that it shares with that process. That
 * of a remote event is changed by transports, and no thread sleeps for it.
 */
final class DpuHandle extends EventHandle {
    private final Bus bus;
    private final SharedSegment counter;
    private final Peer cpu;
    private final Peer[] peers;

    /**
     * Takes over what a join has created.
     *
     * @param kind what has joined
     * @param attachment link to the process of the CPU handle, with the counter's memory
     * @param page memory that was sent to that process
     */
    DpuHandle(ImportKind kind, Bus bus, Attachment attachment, SharedSegment page) {
        super(attachment.remote());
        this.bus = bus;
        this.counter = attachment.remote();
        this.cpu = new Peer(kind, bus, attachment.link(), page);
        this.peers = new Peer[] {cpu};
        cpu.link().onPeerGone(sleepers::wakeAll);
    }

    @Override
    void wakePeers() {
        cpu.ringIfWanted();
    }

    /**
     * Wakes those who wait, after a transport has changed the counter: one load if none of them
     * sleeps, and one system call else.
     */
    void changed() {
        // A transport may have set the counter by a plain store, which must not be delayed beyond
        // the load of the request: the sleeper would see the old value, and this thread no request.
        VarHandle.fullFence();
        cpu.ringIfWanted();
    }

    /** Its one peer does not change: it stays until the close. */
    @Override
    long peersVersion() {
        return 0;
    }

    @Override
    Status ended() {
        return cpu.ended();
    }

    @Override
    boolean arm(Sleeper sleeper, long seen) {
        if (!sleeper.links.isUsed()) {
            sleeper.links.listenTo(peers, 0, () -> rung(sleeper));
        }
        synchronized (arming) {
            sleepers.arm(sleeper, seen);
            cpu.arm(seen);
            // The page has room for one value: a thread that has seen another one is woken.
            int _ = sleepers.wakeChanged(seen);
        }
        if (cpu.isRelayed()) {
            cpu.link().ring(); // other handles do not see this page
        }
        return get() != seen || ended() != Status.SUCCESS;
    }

    /** A doorbell has ended the sleep of a thread; on that thread, which needs no other wake-up. */
    private void rung(Sleeper sleeper) {
        sleepers.disarm(sleeper);
        sleepers.wakeAll();
    }

    @Override
    void disarm(Sleeper sleeper) {
        synchronized (arming) {
            sleepers.disarm(sleeper);
            if (!sleepers.anyArmed()) {
                cpu.disarm();
            }
        }
    }

    @Override
    void refresh(Sleeper sleeper) {
        // Its one link does not change.
    }

    @Override
    void close() {
        // The end of the link tells the other process that the counter is mapped here no more.
        bus.release(counter, cpu::release);
    }
}
