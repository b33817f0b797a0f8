package io.softdpu.block.spi;

/**
 * Extents that a channel has found: adjacent ranges, the first at the offset of the request, each
 * data or a hole. They may end before the range of the request does, and behind none of it.
 * Allocates nothing after its construction; belongs to the owner of its request.
 */
public final class ExtentList {
    private final long[] lengths;
    private final boolean[] holes;
    private int count;

    /**
     * Creates an empty list.
     *
     * @param maxCount limit of extents, at least 1
     */
    public ExtentList(int maxCount) {
        lengths = new long[maxCount];
        holes = new boolean[maxCount];
    }

    /** Removes all. */
    public void clear() {
        count = 0;
    }

    /** Whether no further one can be added; one of the same kind as the last still can. */
    public boolean isFull() {
        return count == lengths.length;
    }

    /**
     * Adds the next extent, or extends the last one if that is of the same kind.
     *
     * @param lengthBytes positive, a multiple of the block size
     * @param hole whether its blocks are not allocated and read as zeros; of blocks whose write had
     *     completed before the request was submitted it must be false
     * @return false if there is no room, and nothing was added
     */
    public boolean add(long lengthBytes, boolean hole) {
        if (count > 0 && holes[count - 1] == hole) {
            lengths[count - 1] += lengthBytes;
            return true;
        }
        if (isFull()) {
            return false;
        }
        lengths[count] = lengthBytes;
        holes[count] = hole;
        count++;
        return true;
    }

    /** Number of extents. */
    public int count() {
        return count;
    }

    /**
     * Length of an extent in bytes.
     *
     * @param index below {@link #count()}
     */
    public long lengthBytes(int index) {
        return lengths[index];
    }

    /**
     * Whether an extent is a hole.
     *
     * @param index below {@link #count()}
     */
    public boolean isHole(int index) {
        return holes[index];
    }
}
