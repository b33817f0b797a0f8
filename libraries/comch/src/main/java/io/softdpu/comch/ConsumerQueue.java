package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelLimits;
import io.softdpu.comch.wire.ConsumerAnnouncement;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.MemoryRight;
import io.softdpu.core.spi.Regions;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.LeaseListener;
import io.softdpu.fabric.ring.FastPathConsumer;
import io.softdpu.fabric.ring.FastPathRing;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Receive queue of a consumer from one start to the next stop: posted tasks, completions in order
 * of posting, and the two exported regions that the peer imports.
 *
 * <p>Belongs to the thread of the consumer's engine; leases are reported on the bus thread. The
 * path from post to completion allocates nothing.
 */
final class ConsumerQueue {
    private static final String MEMORY_NAME = "softdpu-comch-consumer";

    /**
     * Completions per progress, so that busy producers do not starve the engine's other contexts.
     */
    private static final int COMPLETION_BATCH = 64;

    private final ConsumerContext consumer;
    private final Mmap mmap;
    private final MemorySegment memory;
    private final MemoryRight right;
    private final SharedSegment ringMemory;
    private final FastPathRing.Geometry geometry;
    private final FastPathConsumer ring;
    private final LeaseWatch ringWatch = new LeaseWatch();
    private final LeaseWatch memoryWatch = new LeaseWatch();
    private final ExportedRegion ringRegion;
    private final ExportedRegion memoryRegion;
    private final @Nullable PostReceiveTask[] posted;
    private final int mask;
    private final long maxBufferBytes;
    private final Refusal full;
    private int head;
    private boolean violationReported;
    private boolean forcedReleaseReported;
    private int count;
    private volatile boolean ending;

    /**
     * Listener for the leases of one region. Only the first lease is posted, so that a peer that
     * imports repeatedly cannot fill the mailbox; the release at the end waits for all of them.
     */
    private final class LeaseWatch implements LeaseListener {
        private final AtomicReference<@Nullable Link> first = new AtomicReference<>();

        @Override
        public void leaseOpened(Link lease) {
            if (first.compareAndSet(null, lease)) {
                consumer.leaseOpened(ConsumerQueue.this);
            }
        }

        @Override
        public void leaseClosed(Link lease) {
            if (ending) {
                consumer.wake();
            }
        }

        @Nullable Link link() {
            return first.get();
        }
    }

    /**
     * Creates the ring and exports both regions.
     *
     * @throws RuntimeException a DpuException or FabricException; all is released then
     */
    ConsumerQueue(ConsumerContext consumer, Mmap mmap, int tasks) {
        this.consumer = consumer;
        this.mmap = mmap;
        this.memory = Regions.memoryOf(mmap);
        this.right = new MemoryRight(consumer.device(), ConsumerContext.NEEDED);
        this.geometry = new FastPathRing.Geometry(ChannelLimits.roundUpToPowerOfTwo(tasks));
        this.posted = new @Nullable PostReceiveTask[geometry.slots()];
        this.mask = geometry.slots() - 1;
        this.full =
                Refusal.ready(
                        Status.AGAIN,
                        () ->
                                Text.format(
                                        "receive queue is full: posted=%d, slots=%d, expected=a"
                                                + " completion first",
                                        geometry.slots(), geometry.slots()));
        this.maxBufferBytes =
                consumer.connection().context().capabilities().maxConsumerBufferBytes();
        this.memoryRegion = BusServices.exportFor(mmap, consumer.device(), true, memoryWatch);
        SharedSegment allocated = null;
        ExportedRegion exported = null;
        try {
            allocated = SharedSegment.allocate(MEMORY_NAME, geometry.sizeBytes());
            this.ring = FastPathRing.consumer(allocated.segment(), geometry);
            exported = consumer.bus().export(allocated, true, ringWatch);
        } finally {
            if (exported == null) {
                memoryRegion.close();
                if (allocated != null) {
                    consumer.bus().release(allocated);
                }
            }
        }
        this.ringMemory = allocated;
        this.ringRegion = exported;
    }

    /** The consumer, for answers to the start that this queue belongs to. Any thread. */
    ConsumerContext consumer() {
        return consumer;
    }

    ConsumerAnnouncement announcement() {
        return new ConsumerAnnouncement(
                geometry.slots(), ringRegion.address(), memoryRegion.address());
    }

    /** Whether the peer has leased both regions. */
    boolean isLeased() {
        return ringWatch.link() != null && memoryWatch.link() != null;
    }

    /** The doorbell that the peer's producers ring; null before the ring's lease. */
    @Nullable Link doorbell() {
        return ringWatch.link();
    }

    /** Posts a task's buf; a refusal leaves everything unchanged. */
    @Nullable Refusal post(PostReceiveTask task) {
        Buf buf = task.buf();
        if (buf == null || buf.references() == 0 || buf.mmap() != mmap) {
            return notOfMemory(buf);
        }
        Refusal refusal = right.check(mmap); // the peer cannot write to memory that was stopped
        if (refusal != null) {
            return Refusal.with(refusal, "operand=destination");
        }
        long capacity = buf.tailroom();
        if (capacity < 1 || capacity > maxBufferBytes) {
            return badTailroom(buf, capacity);
        }
        refusal = Regions.markDestination(buf, ComchCapabilities.MAX_LIST_LENGTH);
        if (refusal != null) {
            return Refusal.with(refusal, "operand=destination");
        }
        long tailOffset = buf.dataOffset() + buf.dataLength();
        if (!ring.post(tailOffset, capacity)) {
            Regions.clearInFlight(buf);
            return full;
        }
        task.posted(tailOffset);
        int place = (head + count) & mask;
        if (posted[place]
                != task) { // often the same task again, and a load costs less than a store
            posted[place] = task;
        }
        count++;
        return null;
    }

    private Refusal notOfMemory(@Nullable Buf buf) {
        if (buf == null || buf.references() == 0) {
            return Refusal.of(
                    Status.INVALID_VALUE,
                    "%s: destination=%s, expected=a buf in use",
                    buf == null ? "task has no buf" : "buf was released",
                    buf);
        }
        return Refusal.of(
                Status.INVALID_VALUE,
                "buf is not in the receive memory of the consumer: destination=%s, expected=a buf"
                        + " in %s",
                buf,
                mmap);
    }

    private Refusal badTailroom(Buf buf, long capacity) {
        return capacity < 1
                ? BufLists.tooLittleTailroom("destination", buf, 1)
                : Refusal.of(
                        Status.INVALID_VALUE,
                        "tailroom %d > %d: destination=%s, expected=%d bytes at most",
                        capacity,
                        maxBufferBytes,
                        buf,
                        maxBufferBytes);
    }

    /** Begins to publish postings together; false if that has begun already. */
    boolean beginBatch() {
        return ring.beginBatch();
    }

    /** Publishes all postings. */
    void endBatch() {
        ring.endBatch();
    }

    /**
     * Completes the tasks whose buffers producers have written, and wakes producers that wait for
     * what callbacks have posted.
     *
     * @return the number of completed tasks; -1 if the peer violated the protocol
     */
    int progress(Copier copier) {
        int completed;
        ring.beginBatch();
        try {
            completed = complete(copier);
        } finally {
            try {
                consumer.deliver();
            } finally {
                ring.endBatch();
            }
        }
        wakeProducers(completed == 0);
        return completed;
    }

    private int complete(Copier copier) {
        int completed = 0;
        while (completed < COMPLETION_BATCH) {
            int polled = ring.poll();
            if (polled <= 0) {
                return polled == 0 ? completed : -1;
            }
            completeHead(copier);
            completed++;
        }
        return completed;
    }

    /** Rings the producers if they wait, and it is time to ask. */
    private void wakeProducers(boolean idle) {
        if (ring.isPeerToBeAsked(idle)) {
            ringProducers();
        }
    }

    private void ringProducers() {
        Link link = ringWatch.link();
        if (link != null && ring.peerArmed()) {
            link.ring();
        }
    }

    private void completeHead(Copier copier) {
        PostReceiveTask task = take();
        Buf buf = Objects.requireNonNull(task.buf(), "posted");
        Status status = Status.IO_FAILED;
        if (!ring.isAbandoned()) {
            long length = ring.length();
            int immediateLength = ring.immediateLength();
            if (ring.isInline()) {
                copier.message(
                        ring.segment(), ring.inlineOffset(), memory, task.tailOffset(), length);
            }
            if (immediateLength > 0) {
                copier.message(
                        ring.segment(),
                        ring.immediateOffset(),
                        task.immediateTarget(),
                        0,
                        immediateLength);
            }
            task.received(ring.producerId(), length, immediateLength);
            Regions.appendData(buf, length);
            status = Status.SUCCESS;
        }
        ring.release();
        Regions.clearInFlight(buf);
        consumer.complete(task, status);
    }

    /**
     * Whether this is the first call since a violation. The violation persists and is found in each
     * progress until the consumer has stopped.
     */
    boolean isNewViolation() {
        boolean first = !violationReported;
        violationReported = true;
        return first;
    }

    /** Whether this is the first call: the forced release is logged once. */
    boolean isFirstForcedRelease() {
        boolean first = !forcedReleaseReported;
        forcedReleaseReported = true;
        return first;
    }

    /** The peer's protocol violation; null if there is none. */
    @Nullable String violation() {
        return ring.violation();
    }

    /**
     * Completes all tasks whose buffers were written, however many. After the release of the
     * memory, or its revocation: nothing more is written, or must be read.
     */
    void completeWritten(Copier copier) {
        while (count > 0 && progress(copier) > 0) {
            // The next ones: each pass is limited.
        }
    }

    /** Fails all posted tasks; the peer no longer writes. Inside progress. */
    void flush(Status status) {
        while (count > 0) {
            PostReceiveTask task = take();
            Regions.clearInFlight(Objects.requireNonNull(task.buf(), "posted"));
            consumer.complete(task, status);
        }
        consumer.deliver();
    }

    boolean arm() {
        wakeProducers(true); // for what was posted outside progress
        return ring.arm();
    }

    void disarm() {
        ring.disarm();
    }

    /** Makes producers stop claiming buffers; claimed ones are still completed. */
    void close() {
        ending = true;
        ring.close();
        ringProducers(); // those that wait find that there is nothing to wait for
    }

    /** Revokes the peer's access to the memory without waiting for the peer. */
    void revoke() {
        ending = true;
        ringRegion.revoke();
        memoryRegion.revoke();
    }

    /** Whether no peer has the memory mapped. */
    boolean isReleased() {
        return ringRegion.leases() == 0 && memoryRegion.leases() == 0;
    }

    /** Releases all resources. A peer that still has a mapping keeps only that. */
    void destroy() {
        revoke();
        consumer.bus().release(ringMemory);
    }

    private PostReceiveTask take() {
        PostReceiveTask task = Objects.requireNonNull(posted[head], "posted");
        head = (head + 1) & mask;
        count--;
        return task;
    }
}
