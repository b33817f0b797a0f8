package io.softdpu.core.copy;

import io.softdpu.linux.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Copies data and counts it, payload (block data, fast-path data) separately from messages (control
 * messages, io_messages). These counters show that the zero-copy path copies payload once.
 *
 * <p>One object per engine and per work queue. Only its thread copies; any thread may read the
 * counters. Allocates nothing.
 */
public final class Copier {
    /**
     * Limit of bytes per progress() and operation, so that an engine with a large copy in flight
     * still serves the rest (12 to 30 µs at the measured memory speeds).
     */
    public static final long SLICE_BYTES = 256L << 10;

    /**
     * Minimum size of payload copied by libc. If its own threshold for non-temporal stores is as
     * low ({@code glibc.cpu.x86_non_temporal_threshold=0x20000}, which ./softdpu sets), 1 MiB reads
     * of a volume beyond the caches move 1.1 times and writes 1.6 times as much as copies between
     * segments; otherwise the two are equal. Half a slice, so that a slice partly used by smaller
     * requests still takes this path; smaller copies stay in the second-level cache. Another cache,
     * or a JDK that uses non-temporal stores itself, would change this.
     */
    static final long COPIED_BY_LIBC_BYTES = SLICE_BYTES / 2;

    private static final VarHandle ALIGNED = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle PAYLOAD;
    private static final VarHandle MESSAGES;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            PAYLOAD = lookup.findVarHandle(Copier.class, "payloadBytes", long.class);
            MESSAGES = lookup.findVarHandle(Copier.class, "messageBytes", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private long payloadBytes;
    private long messageBytes;

    /** Creates a copier with both counters at zero. */
    public Copier() {}

    /**
     * Copies payload; bounds are checked by the segments. Ranges may overlap, as for memmove. The
     * order in which bytes are stored is unspecified: glibc's memmove, for one, stores the first 64
     * bytes last on processors with AVX-512, and the first 32 with AVX2.
     *
     * @throws IllegalStateException if the memory was freed meanwhile
     */
    public void payload(
            MemorySegment source,
            long sourceOffset,
            MemorySegment destination,
            long destinationOffset,
            long sizeBytes) {
        if (sizeBytes >= COPIED_BY_LIBC_BYTES && isOwn(source) && isOwn(destination)) {
            NativeMemory.copy(source, sourceOffset, destination, destinationOffset, sizeBytes);
        } else {
            MemorySegment.copy(source, sourceOffset, destination, destinationOffset, sizeBytes);
        }
        PAYLOAD.setOpaque(this, payloadBytes + sizeBytes);
    }

    /**
     * Counts payload that the kernel has copied for a request of this thread: to or from its cache
     * of files.
     */
    public void payloadByKernel(long sizeBytes) {
        PAYLOAD.setOpaque(this, payloadBytes + sizeBytes);
    }

    /**
     * Copies eight bytes of payload from a multiple of eight by one load, an acquire: later loads
     * see what was stored before the value.
     *
     * @throws IllegalStateException if the memory was freed meanwhile
     */
    public void loadWord(
            MemorySegment source,
            long sourceOffset,
            MemorySegment destination,
            long destinationOffset) {
        long word = (long) ALIGNED.getAcquire(source, sourceOffset);
        destination.set(ValueLayout.JAVA_LONG_UNALIGNED, destinationOffset, word);
        PAYLOAD.setOpaque(this, payloadBytes + Long.BYTES);
    }

    /**
     * Copies eight bytes of payload to a multiple of eight by one store, a release: a process that
     * sees the value sees what was stored before it.
     *
     * @throws IllegalStateException if the memory was freed meanwhile
     */
    public void storeWord(
            MemorySegment source,
            long sourceOffset,
            MemorySegment destination,
            long destinationOffset) {
        long word = source.get(ValueLayout.JAVA_LONG_UNALIGNED, sourceOffset);
        ALIGNED.setRelease(destination, destinationOffset, word);
        PAYLOAD.setOpaque(this, payloadBytes + Long.BYTES);
    }

    /**
     * Whether the segment is native memory whose pages cannot disappear: a file mapped by the user
     * may be truncated, which only the JVM's own copies survive. libc cannot copy heap memory.
     */
    private static boolean isOwn(MemorySegment segment) {
        return segment.isNative() && !segment.isMapped();
    }

    /**
     * Copies a message; bounds are checked by the segments.
     *
     * @throws IllegalStateException if the memory was freed meanwhile
     */
    public void message(
            MemorySegment source,
            long sourceOffset,
            MemorySegment destination,
            long destinationOffset,
            long sizeBytes) {
        MemorySegment.copy(source, sourceOffset, destination, destinationOffset, sizeBytes);
        MESSAGES.setOpaque(this, messageBytes + sizeBytes);
    }

    /** Payload bytes copied so far, those of the kernel included. */
    public long payloadBytes() {
        return (long) PAYLOAD.getOpaque(this);
    }

    /** Message bytes copied so far. */
    public long messageBytes() {
        return (long) MESSAGES.getOpaque(this);
    }
}
