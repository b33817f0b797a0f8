package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.check.Threads;
import io.softdpu.core.internal.base.Dependents;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Memory range of an mmap, and the dependency that keeps it open while that is started. Set once,
 * under the lock of the mmap, whose state publishes it.
 */
final class MmapRange {
    private @Nullable SharedMemory shared;

    /** The dependents of the memory; null for a segment of the program. */
    private @Nullable Dependents dependents;

    private Dependents.@Nullable Dependency onMemory;

    private @Nullable MemorySegment segment;
    private long sizeBytes;

    void set(SharedMemory memory) {
        set(memory.segment(), memory.sizeBytes());
        shared = memory;
        dependents = memory.dependents();
    }

    void set(LocalMemory memory) {
        set(memory.segment(), memory.sizeBytes());
        dependents = memory.dependents();
    }

    /**
     * Memory that nothing keeps open: the program's own, or an import's, which has no segment if it
     * is not mapped.
     */
    void set(@Nullable MemorySegment memory, long size) {
        segment = memory;
        sizeBytes = size;
    }

    boolean isSet() {
        return segment != null;
    }

    /** Whether the memory is open while the mmap is started, for any thread. */
    boolean isHeld() {
        return dependents != null;
    }

    /**
     * Keeps the memory open; once, however often it is called.
     *
     * @param user the mmap, for messages
     * @throws DpuException BAD_STATE if it is closed
     */
    void hold(String user) {
        if (dependents != null) {
            Dependents.Dependency before = onMemory;
            onMemory = dependents.add(user);
            if (before != null) {
                before.release();
            }
        }
    }

    /** Ends {@link #hold}. */
    void letGo() {
        if (onMemory != null) {
            onMemory.release();
            onMemory = null;
        }
    }

    /** The memory for tasks; null before it is set, without a mapping, and after release. */
    @Nullable MemorySegment segment() {
        return segment;
    }

    long sizeBytes() {
        return sizeBytes;
    }

    @Nullable SharedMemory shared() {
        return shared;
    }

    /**
     * Prepares it for these permissions: seals memory that may be exported.
     *
     * @throws DpuException as {@link Mmap#start}
     */
    void start(MemorySegment memory, Permissions granted) {
        if (granted.allowsAnyWrite() && memory.isReadOnly()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "memory is read-only: permissions=" + granted + ", sizeBytes=" + sizeBytes);
        }
        if (shared != null) {
            shared.requireReleased();
            if (granted.allowsPci() || granted.allowsRdma()) {
                shared.seal(granted);
            }
        }
    }

    /** Checks that this thread can access it; no allocation unless it cannot, no lock. */
    @Nullable Refusal checkAccess(Mmap of) {
        if (dependents != null) { // accessible to any thread, and kept open
            return null;
        }
        MemorySegment memory = segment;
        if (memory == null || !memory.scope().isAlive()) {
            return Refusal.of(
                    Status.BAD_STATE,
                    "memory was closed before its mmap: mmap=%s, expected=memory that is open until"
                            + " the mmap is closed",
                    of);
        }
        if (!memory.isAccessibleBy(Thread.currentThread())) {
            return Refusal.of(
                    Status.NOT_PERMITTED,
                    "memory is confined to another thread: mmap=%s, thread=%s, expected=memory of a"
                            + " shared arena",
                    of,
                    Threads.current());
        }
        return null;
    }

    /** Refuses offsets beyond the range. */
    void require(long offset, long length) {
        if (offset < 0 || length < 0 || offset > sizeBytes || length > sizeBytes - offset) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "range is not within the mmap: offsetBytes=%d, lengthBytes=%d,"
                                    + " sizeBytes=%d",
                            offset, length, sizeBytes));
        }
    }

    void release() {
        letGo();
        segment = null;
    }
}
