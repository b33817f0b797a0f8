package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.internal.base.Usage;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The range of memory that an mmap stands for, and what keeps it open. Set once, under the lock of
 * the mmap, whose state publishes it.
 */
final class MmapRange {
    private @Nullable SharedMemory shared;

    /** On memory that is not closed before this; null for a segment of the program's. */
    private Usage.@Nullable Hold onMemory;

    private @Nullable MemorySegment segment;
    private long sizeBytes;

    void set(SharedMemory memory) {
        onMemory = memory.usage().hold("mmap");
        shared = memory;
        set(memory.segment(), memory.sizeBytes());
    }

    void set(LocalMemory memory) {
        onMemory = memory.usage().hold("mmap");
        set(memory.segment(), memory.sizeBytes());
    }

    /**
     * Memory without a hold: the program's own, or an import's, which has no segment where it is
     * not mapped.
     */
    void set(@Nullable MemorySegment memory, long size) {
        segment = memory;
        sizeBytes = size;
    }

    boolean isSet() {
        return segment != null;
    }

    /** The memory as tasks see it; null before it is set, without a mapping, and after release. */
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
     * Gets it ready to be used with these permissions: seals what others may get at.
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
            shared.requireLetGo();
            if (granted.allowsPci() || granted.allowsRdma()) {
                shared.seal(granted);
            }
        }
    }

    /** Checked before each use; no allocation, no lock. */
    Status checkUse(boolean granted) {
        if (onMemory == null) { // else any thread's, and not closed before this
            MemorySegment memory = segment;
            if (memory == null || !memory.scope().isAlive()) {
                return Status.BAD_STATE; // the program has closed it under the mmap
            }
            if (!memory.isAccessibleBy(Thread.currentThread())) {
                return Status.NOT_PERMITTED;
            }
        }
        return granted ? Status.SUCCESS : Status.NOT_PERMITTED;
    }

    /** Refuses what reaches beyond the range. */
    void require(long offset, long length) {
        if (offset < 0 || length < 0 || offset > sizeBytes || length > sizeBytes - offset) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "range is not within the mmap: offset=%d, length=%d, sizeBytes=%d"
                            .formatted(offset, length, sizeBytes));
        }
    }

    void release() {
        if (onMemory != null) {
            onMemory.release();
        }
        segment = null;
    }
}
