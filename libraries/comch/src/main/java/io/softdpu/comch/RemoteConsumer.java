package io.softdpu.comch;

import io.softdpu.core.Status;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A consumer of the peer as the producers of this side see it: its ring and its receive memory,
 * imported and mapped.
 *
 * <p>Counted: the connection holds it while the consumer is known, each producer from its first
 * send to it until it notices that the consumer has gone. The last one closes both imports, which
 * tells the peer that nothing here writes any more. Any thread may hold it and let it go; its ring,
 * and whether it can be used, are for those that hold it.
 */
final class RemoteConsumer {
    private final int id;
    private final ImportedRegion ringRegion;
    private final ImportedRegion memoryRegion;
    private final FastPathProducer ring;
    private final MemorySegment memory;
    private final AtomicInteger holders = new AtomicInteger(1);
    private volatile boolean gone;

    /** Takes both mapped imports over. */
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
        this.memory = Objects.requireNonNull(memoryRegion.memory(), "memory").segment();
    }

    int id() {
        return id;
    }

    FastPathProducer ring() {
        return ring;
    }

    /** The consumer's receive memory; offsets in postings count from its start. */
    MemorySegment memory() {
        return memory;
    }

    /**
     * Whether nothing may be sent to it any more: it expired, was revoked, or its process ended.
     */
    boolean unusable() {
        return gone || revoked();
    }

    /** Why nothing may be sent to it. */
    Status unusableStatus() {
        if (gone || ringRegion.withdrawn()) {
            return Status.NOT_FOUND;
        }
        return revokedStatus();
    }

    /** Why what was claimed may not be written, where {@link #revoked()}. */
    Status revokedStatus() {
        return ringRegion.withdrawn() || memoryRegion.withdrawn()
                ? Status.SHUTDOWN
                : Status.CONNECTION_RESET;
    }

    /**
     * Whether even what was claimed may not be written: the memory was taken back. For those that
     * hold it.
     */
    boolean revoked() {
        return ringRegion.revokedWhileHeld() || memoryRegion.revokedWhileHeld();
    }

    /** Whether the peer said that it goes, or the connection has ended. */
    boolean expired() {
        return gone;
    }

    /** Wakes the consumer's engine if it sleeps. */
    void ringIfArmed() {
        if (ring.peerArmed()) {
            ringRegion.link().ring();
        }
    }

    /** Notes that the consumer has gone and gives the connection's hold back. */
    void expire() {
        gone = true;
        release();
    }

    /** False if it has been closed already. */
    boolean retain() {
        int seen = holders.get();
        while (seen > 0) {
            if (holders.compareAndSet(seen, seen + 1)) {
                return true;
            }
            seen = holders.get();
        }
        return false;
    }

    /**
     * The last holder's release closes the imports: mapping workers unmap them, and the peer learns
     * of it then.
     */
    void release() {
        if (holders.decrementAndGet() == 0) {
            memoryRegion.close();
            ringRegion.close();
        }
    }
}
