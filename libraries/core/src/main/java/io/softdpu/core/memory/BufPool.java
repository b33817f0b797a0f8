package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;

/**
 * Pool of {@link Buf}s of one size in one mmap, which chooses their offsets (Core guide, section
 * 3.3.4, {@code doca_bufpool}).
 *
 * <p>The memory of two bufs never overlaps. Each begins at an address that is a multiple of the
 * alignment; the address is that of the memory in the program that owns it, and for memory on the
 * heap the offset in it. A buf of a pool always describes its element: it cannot describe other
 * memory (NOT_PERMITTED).
 *
 * <p>All bufs are allocated at creation; getting and releasing one allocates nothing. While it is
 * started the mmap cannot be closed. Used by one thread at a time. After a stop it can be started
 * again.
 */
public final class BufPool extends BufOwner implements AutoCloseable {
    private final Mmap mmap;
    private final long elementSizeBytes;
    private final Buf[] free;
    private int available;
    private long alignmentBytes = 1;

    private BufPool(int elements, long elementSizeBytes, Mmap mmap) {
        super("pool");
        this.mmap = mmap;
        this.elementSizeBytes = elementSizeBytes;
        this.free = new Buf[elements];
        for (int i = 0; i < elements; i++) {
            free[i] = new Buf(this);
        }
        available = elements;
    }

    /**
     * Creates a pool; it must be started before use.
     *
     * @param elements number of bufs, 1 to {@link BufInventory#MAX_ELEMENTS}
     * @param elementSizeBytes size of a buf, at least 1
     * @param mmap the mmap, local or imported; its memory should not be used otherwise
     * @throws DpuException INVALID_VALUE if a number is out of range
     */
    public static BufPool create(int elements, long elementSizeBytes, Mmap mmap) {
        Arguments.notNull(mmap, "mmap");
        requireElements(elements);
        requireElementSize(elementSizeBytes);
        return new BufPool(elements, elementSizeBytes, mmap);
    }

    /**
     * Sets the alignment of each buf's address; 1 by default.
     *
     * @param alignmentBytes a power of two
     * @throws DpuException INVALID_VALUE if it is not a power of two; BAD_STATE if the pool is
     *     started or closed
     */
    public BufPool setElementAlignment(long alignmentBytes) {
        requireIdle("cannot be configured");
        if (alignmentBytes < 1 || Long.bitCount(alignmentBytes) != 1) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "alignment is not a power of two: alignmentBytes=" + alignmentBytes);
        }
        this.alignmentBytes = alignmentBytes;
        return this;
    }

    /**
     * Starts it and assigns the offsets of the bufs.
     *
     * @throws DpuException BAD_STATE if it is started or closed, or the mmap is not started;
     *     INITIALIZATION if the mmap is too small for so many bufs of this size and alignment
     */
    public BufPool start() {
        requireIdle("cannot be started");
        mmap.requireStarted();
        long mask = alignmentBytes - 1;
        long first = -mmap.exports().address() & mask;
        long stride = elementSizeBytes + (-elementSizeBytes & mask);
        if (stride < 0) { // overflow of the rounding: one may fit, two never do
            stride = Long.MAX_VALUE;
        }
        requireCapacity(mmap, first, free.length, stride, elementSizeBytes);
        mmap.retainPool();
        for (int i = 0; i < free.length; i++) { // the first element on top
            free[free.length - 1 - i].place(first + i * stride, elementSizeBytes);
        }
        enterStarted();
        return this;
    }

    /**
     * Allocates a buf without data.
     *
     * @throws DpuException EMPTY if all bufs are in use; BAD_STATE if the pool or the mmap is not
     *     started
     */
    public Buf allocate() {
        requireStarted();
        mmap.requireStarted();
        if (available == 0) {
            throw noneFree(Status.EMPTY, free.length);
        }
        Buf buf = free[--available];
        buf.handOut(mmap);
        return buf;
    }

    /** The mmap of the bufs. */
    public Mmap mmap() {
        return mmap;
    }

    /** Size of a buf. */
    public long elementSizeBytes() {
        return elementSizeBytes;
    }

    /** Alignment of each buf's address. */
    public long elementAlignment() {
        return alignmentBytes;
    }

    /** Number of free bufs. */
    public int free() {
        return available;
    }

    /** Number of bufs. */
    public int total() {
        return free.length;
    }

    /**
     * Stops it.
     *
     * @throws DpuException BAD_STATE if it is not started; IN_USE while bufs are handed out
     */
    public void stop() {
        requireStarted();
        requireAllBack(available, free.length);
        mmap.releasePool();
        enterIdle();
    }

    /**
     * Closes it, after stopping it if it is started; idempotent.
     *
     * @throws DpuException IN_USE while bufs are handed out
     */
    @Override
    public void close() {
        if (isStarted()) {
            stop();
        }
        enterClosed();
    }

    @Override
    void takeBack(Buf buf) {
        buf.takeIn();
        free[available++] = buf;
    }

    @Override
    boolean hasFixedOffsets() {
        return true;
    }

    @Override
    boolean keepsLastReference() {
        return false;
    }
}
