package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;

/**
 * A pool of {@link Buf}s of one size over one mmap, which chooses where each lies (Core guide,
 * section 3.3.4, {@code doca_bufpool}): for programs to which all places are the same.
 *
 * <p>The memory of two bufs never overlaps. Each begins at an address that is a multiple of the
 * alignment; the address is that of the memory in the program that owns it, and for memory on the
 * heap the offset in it. A buf from here always describes its place: it cannot be made to describe
 * other memory (NOT_PERMITTED).
 *
 * <p>All bufs are made at creation; handing one out and taking it back allocates nothing. While it
 * is started the mmap cannot be closed. Used by one thread at a time. After a stop it can be
 * started again.
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
     * Creates a pool; it has to be started before it hands out bufs.
     *
     * @param elements how many bufs it has, 1 to {@link BufInventory#MAX_ELEMENTS}
     * @param elementSizeBytes how long each buf is, at least 1
     * @param mmap where they lie, local or imported; nothing else should use its memory
     * @throws DpuException INVALID_VALUE if a number is out of range
     */
    public static BufPool create(int elements, long elementSizeBytes, Mmap mmap) {
        Arguments.notNull(mmap, "mmap");
        requireElements(elements);
        requireElementSize(elementSizeBytes);
        return new BufPool(elements, elementSizeBytes, mmap);
    }

    /**
     * Says of what each buf's address is a multiple; 1 if it is never said.
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
     * Starts it: the bufs get their places.
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
        if (stride < 0) { // rounded up beyond all numbers: one may fit, two never do
            stride = Long.MAX_VALUE;
        }
        requireRoom(mmap, first, free.length, stride, elementSizeBytes);
        mmap.retainUser();
        for (int i = 0; i < free.length; i++) { // the first place on top
            free[free.length - 1 - i].place(first + i * stride, elementSizeBytes);
        }
        enterStarted();
        return this;
    }

    /**
     * A buf without data at a place that no other buf of the pool has.
     *
     * @throws DpuException EMPTY if all bufs are in use; BAD_STATE if the pool or the mmap is not
     *     started
     */
    public Buf allocate() {
        requireStarted();
        mmap.requireStarted();
        if (available == 0) {
            throw new DpuException(Status.EMPTY, "all bufs are in use: total=" + free.length);
        }
        Buf buf = free[--available];
        buf.handOut(mmap);
        return buf;
    }

    /** The mmap that the bufs lie in. */
    public Mmap mmap() {
        return mmap;
    }

    /** How long each buf is. */
    public long elementSizeBytes() {
        return elementSizeBytes;
    }

    /** Of what each buf's address is a multiple. */
    public long elementAlignment() {
        return alignmentBytes;
    }

    /** How many bufs can be handed out now. */
    public int free() {
        return available;
    }

    /** How many bufs there are. */
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
        mmap.releaseUser();
        enterIdle();
    }

    /**
     * Ends it, stopping it first where it is started; closing twice does nothing.
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
    boolean hasFixedPlaces() {
        return true;
    }

    @Override
    boolean keepsItsBufs() {
        return false;
    }
}
