package io.softdpu.comch;

import io.softdpu.core.Status;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Consumer of the peer, for the producers of this side: its ring and its receive memory, imported
 * and mapped.
 *
 * <p>Reference counted: the connection holds a reference while the consumer is known, each producer
 * from its first send to it until it notices that the consumer has expired. The last release closes
 * both imports, which tells the peer that no process writes any longer. Any thread may retain and
 * release; all other methods require a reference.
 */
final class RemoteConsumer {
    private final int id;
    private final ImportedRegion ringRegion;
    private final ImportedRegion memoryRegion;
    private final FastPathProducer ring;
    private final MemorySegment memory;
    private final CreditQueue credit;
    private final AtomicInteger references = new AtomicInteger(1);
    private volatile boolean gone;

    /** Takes ownership of both mapped imports. */
    RemoteConsumer(
            int id,
            FastPathRing.Geometry geometry,
            ImportedRegion ringRegion,
            ImportedRegion memoryRegion) {
        this.id = id;
        this.ringRegion = ringRegion;
        this.memoryRegion = memoryRegion;
        this.ring =
                FastPathRing.producer(
                        Objects.requireNonNull(ringRegion.memory(), "ring").segment(), geometry);
        this.credit = new CreditQueue(ring, System::nanoTime);
        this.memory = Objects.requireNonNull(memoryRegion.memory(), "memory").segment();
    }

    int id() {
        return id;
    }

    FastPathProducer ring() {
        return ring;
    }

    /** The producers that wait for its buffers. */
    CreditQueue credit() {
        return credit;
    }

    /** The doorbell of both sides: the consumer rings when it posts buffers. */
    Link link() {
        return ringRegion.link();
    }

    /** The consumer's receive memory; offsets in postings count from its start. */
    MemorySegment memory() {
        return memory;
    }

    /** Whether nothing may be sent to it: it expired, was revoked, or its process ended. */
    boolean unusable() {
        return gone || revoked();
    }

    /** The status of a send, if {@link #unusable()}. */
    Status unusableStatus() {
        if (gone || ringRegion.revokedExplicitly()) {
            return Status.NOT_FOUND;
        }
        return revokedStatus();
    }

    /** The status of claimed sends, if {@link #revoked()}. */
    Status revokedStatus() {
        return ringRegion.revokedExplicitly() || memoryRegion.revokedExplicitly()
                ? Status.SHUTDOWN
                : Status.CONNECTION_RESET;
    }

    /**
     * Whether even claimed buffers may not be written: the memory was revoked. Requires a
     * reference.
     */
    boolean revoked() {
        return ringRegion.revokedWhileHeld() || memoryRegion.revokedWhileHeld();
    }

    /** Whether the peer has announced its end, or the connection has ended. */
    boolean expired() {
        return gone;
    }

    /** Wakes the consumer's engine if it sleeps. */
    void ringIfArmed() {
        if (ring.peerArmed()) {
            ringRegion.link().ring();
        }
    }

    /** Marks the consumer as expired and releases the connection's reference. */
    void expire() {
        gone = true;
        release();
    }

    /** Takes a reference; false if it has been closed already. */
    boolean retain() {
        int seen = references.get();
        while (seen > 0) {
            if (references.compareAndSet(seen, seen + 1)) {
                return true;
            }
            seen = references.get();
        }
        return false;
    }

    /**
     * Releases a reference; the last release closes the imports. Mapping workers unmap them, which
     * the peer is notified of.
     */
    void release() {
        if (references.decrementAndGet() == 0) {
            memoryRegion.close();
            ringRegion.close();
        }
    }
}
