package io.softdpu.core.memory;

import java.lang.foreign.MemorySegment;

/** Gives memory back that an mmap was over; see {@link Mmap#setFreeCallback}. */
@FunctionalInterface
public interface MemoryFreeCallback {
    /**
     * The mmap has been closed: nothing uses the memory any more.
     *
     * @param memory what {@link Mmap#setMemory(MemorySegment)} was given, or the segment of the
     *     {@link SharedMemory}
     */
    void free(MemorySegment memory);
}
