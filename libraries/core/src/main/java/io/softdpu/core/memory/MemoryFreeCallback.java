package io.softdpu.core.memory;

import java.lang.foreign.MemorySegment;

/** Callback that releases the memory of an mmap; see {@link Mmap#setFreeCallback}. */
@FunctionalInterface
public interface MemoryFreeCallback {
    /**
     * Called after the mmap was closed: nothing uses the memory any more.
     *
     * @param memory the argument of {@link Mmap#setMemory(MemorySegment)}, or the segment of the
     *     {@link SharedMemory}
     */
    void free(MemorySegment memory);
}
