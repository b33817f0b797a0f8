package io.softdpu.rdma.spi;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Local scatter/gather list of a work request, and the provider's position in it. The elements are
 * resolved once, at submission: a provider needs no buf afterwards. Allocates nothing after its
 * construction; belongs to the owner of its request.
 *
 * <p>No element is empty, so that {@link #pieceBytes()} is 0 only at the end.
 */
public final class LocalList {
    private final @Nullable MemorySegment[] segments;
    private final long[] offsets;
    private final long[] lengths;
    private int count;

    /** Number of segments that are referred to, by this list or one before. */
    private int held;

    // The provider's position.
    private int element;
    private long offset;
    private long left;

    /**
     * Creates an empty list.
     *
     * @param maxLength limit of elements, at least 1
     */
    public LocalList(int maxLength) {
        segments = new @Nullable MemorySegment[maxLength];
        offsets = new long[maxLength];
        lengths = new long[maxLength];
    }

    /** Removes all elements. Their memory stays referenced until {@link #release}. */
    public void clear() {
        count = 0;
    }

    /** Removes all elements and refers to no memory any more, which may be collected then. */
    public void release() {
        Arrays.fill(segments, 0, held, null);
        held = 0;
        clear();
        rewind();
    }

    /**
     * Appends an element; one of no bytes is left out.
     *
     * @throws IndexOutOfBoundsException if the list is full
     */
    // Usually the same memory again, and a comparison costs less than a store.
    @SuppressWarnings({"ReferenceEquality", "MemorySegmentReferenceEquality"})
    public void add(MemorySegment segment, long offsetBytes, long lengthBytes) {
        if (lengthBytes == 0) {
            return;
        }
        if (segments[count] != segment) {
            segments[count] = segment;
            held = Math.max(held, count + 1);
        }
        offsets[count] = offsetBytes;
        lengths[count] = lengthBytes;
        count++;
    }

    /** Number of elements. */
    public int count() {
        return count;
    }

    /** Memory of an element, whose bytes are at {@link #offset} of it; empty behind the last. */
    public MemorySegment segment(int index) {
        MemorySegment segment = index < count ? segments[index] : null;
        return segment == null ? MemorySegment.NULL : segment;
    }

    /** Offset of an element in its segment; 0 behind the last element. */
    public long offset(int index) {
        return index < count ? offsets[index] : 0;
    }

    /** Length of an element in bytes; 0 behind the last element. */
    public long length(int index) {
        return index < count ? lengths[index] : 0;
    }

    // ---- the provider's position ----

    /** Moves to the first byte. */
    public void rewind() {
        element = 0;
        enter();
    }

    /**
     * Moves to a byte, from which a provider repeats what its peer has not received.
     *
     * @param offset from the first byte, at most the sum of all lengths
     * @throws IndexOutOfBoundsException if the list has fewer bytes
     */
    public void position(long offset) {
        rewind();
        long skipped = offset;
        while (skipped >= left && left > 0) {
            skipped -= left;
            advance(left);
        }
        if (skipped > left) {
            throw new IndexOutOfBoundsException(
                    "position behind the list: offsetBytes="
                            + offset
                            + ", sizeBytes="
                            + (offset - skipped));
        }
        this.offset += skipped;
        left -= skipped;
    }

    /** Number of bytes from the position to the end of its element; 0 behind the last element. */
    public long pieceBytes() {
        return left;
    }

    /** Memory of the element at the position; empty behind the last element. */
    public MemorySegment piece() {
        return segment(element);
    }

    /** Offset of the position in {@link #piece()}. */
    public long pieceOffset() {
        return offset;
    }

    /**
     * Moves the position.
     *
     * @param bytes at most {@link #pieceBytes()}
     */
    public void advance(long bytes) {
        offset += bytes;
        left -= bytes;
        if (left == 0) {
            element++;
            enter();
        }
    }

    private void enter() {
        if (element < count) {
            offset = offsets[element];
            left = lengths[element];
        } else {
            offset = 0;
            left = 0;
        }
    }
}
