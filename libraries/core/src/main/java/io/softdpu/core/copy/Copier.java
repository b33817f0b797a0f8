package io.softdpu.core.copy;

import io.softdpu.linux.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Copies and counts data: payload (block data, fast-path data) apart from messages (control
 * messages, io_messages). What the zero-copy path claims about itself is read off these counters.
 *
 * <p>One object per engine and per work queue. Only the thread of that copies; any thread may read
 * the counters. Allocates nothing.
 */
public final class Copier {
    /**
     * A progress() copies at most this much of one operation, so that an engine with a large copy
     * in flight still serves the rest (12 to 30 µs at the memory speeds measured).
     */
    public static final long SLICE_BYTES = 256L << 10;

    /**
     * From this size on libc copies payload. Where its own threshold for storing past the caches is
     * as low ({@code glibc.cpu.x86_non_temporal_threshold=0x20000}, which ./softdpu sets), 1 MiB
     * reads of a volume beyond the caches move 1.1 times and writes 1.6 times as much as copies
     * between segments; where it is not, the two are equal. Half a slice, so that a slice which
     * small requests have nibbled at has the advantage, too; below, the second-level cache keeps
     * what was copied. Another cache, or a JDK that stores past it itself, would change this.
     */
    static final long COPIED_BY_LIBC_BYTES = SLICE_BYTES / 2;

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
     * Copies payload; bounds are checked by the segments. Where the ranges overlap, all of the
     * source is read before it is written over. The order in which bytes are stored is unspecified:
     * glibc's memmove, for one, stores the first 64 bytes last on processors with AVX-512, and the
     * first 32 with AVX2.
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
     * Whether its pages stay where they are: what a user has mapped from a file may lose its pages,
     * which the JVM survives in its own copies alone. The heap is no matter of libc's.
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

    /** Payload bytes copied so far. */
    public long payloadBytes() {
        return (long) PAYLOAD.getOpaque(this);
    }

    /** Message bytes copied so far. */
    public long messageBytes() {
        return (long) MESSAGES.getOpaque(this);
    }
}
