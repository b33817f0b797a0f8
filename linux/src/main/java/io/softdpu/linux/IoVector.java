package io.softdpu.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A list of memory ranges for one scattered read or gathered write, made once and filled again for
 * each. One thread at a time. It does not own the ranges: they must stay mapped during the call.
 */
public final class IoVector {
    /** Most ranges that the kernel takes in one call. */
    public static final int MAX_RANGES = 1024;

    private final MemorySegment ranges;
    private final int capacity;
    private int count;
    private long totalBytes;

    /**
     * Makes an empty list.
     *
     * @param capacity most ranges, 1 to {@link #MAX_RANGES}
     */
    public IoVector(int capacity) {
        if (capacity < 1 || capacity > MAX_RANGES) {
            throw new IllegalArgumentException(
                    "capacity out of range: capacity=" + capacity + ", limit=" + MAX_RANGES);
        }
        this.capacity = capacity;
        ranges = Arena.ofAuto().allocate((long) capacity * Abi.IoVec.BYTES, Long.BYTES);
    }

    /** Empties the list. */
    public void clear() {
        count = 0;
        totalBytes = 0;
    }

    /**
     * Appends a range.
     *
     * @param address where it begins
     * @param sizeBytes its length, 0 or more
     * @throws IllegalStateException if the list is full
     */
    public void add(long address, long sizeBytes) {
        if (count == capacity) {
            throw new IllegalStateException("list is full: capacity=" + capacity);
        }
        if (sizeBytes < 0) {
            throw new IllegalArgumentException("negative size: sizeBytes=" + sizeBytes);
        }
        totalBytes = Math.addExact(totalBytes, sizeBytes);
        long offset = (long) count * Abi.IoVec.BYTES;
        ranges.set(Libc.LONG, offset + Abi.IoVec.BASE, address);
        ranges.set(Libc.LONG, offset + Abi.IoVec.LENGTH, sizeBytes);
        count++;
    }

    /**
     * Tells how many ranges there are.
     *
     * @return their number
     */
    public int count() {
        return count;
    }

    /**
     * Tells how much all ranges hold.
     *
     * @return the sum of their sizes
     */
    public long totalBytes() {
        return totalBytes;
    }

    /** The array of struct iovec. */
    MemorySegment ranges() {
        return ranges;
    }
}
