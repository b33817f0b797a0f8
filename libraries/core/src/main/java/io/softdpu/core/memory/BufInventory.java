package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;

/**
 * Inventory of {@link Buf}s for several mmaps, with any offset and length (Core guide, section
 * 3.3.4).
 *
 * <p>All bufs are allocated at creation; getting and releasing one allocates nothing. Used by one
 * thread at a time. After a stop it can be started again.
 */
public final class BufInventory extends BufOwner implements AutoCloseable {
    /** Limit of bufs, more than any program needs. */
    public static final int MAX_ELEMENTS = 1 << 24;

    private final Buf[] free;
    private int available;

    private BufInventory(int elements) {
        super("inventory");
        free = new Buf[elements];
        for (int i = 0; i < elements; i++) {
            free[i] = new Buf(this);
        }
        available = elements;
    }

    /**
     * Creates an inventory; it must be started before use.
     *
     * @param elements number of bufs, 1 to {@link #MAX_ELEMENTS}
     * @throws DpuException INVALID_VALUE if the number is out of range
     */
    public static BufInventory create(int elements) {
        return new BufInventory(requireElements(elements));
    }

    /**
     * Starts it.
     *
     * @throws DpuException BAD_STATE if it is started or closed
     */
    public BufInventory start() {
        requireIdle("cannot be started");
        enterStarted();
        return this;
    }

    /**
     * A buf without data: a task writes from its offset on.
     *
     * @param mmap a started mmap, local or imported
     * @param offset offset of the buf in the mmap's range
     * @param length its length; 0 is allowed
     * @throws DpuException INVALID_VALUE if the range is not within the mmap; NO_MEMORY if all bufs
     *     are in use; BAD_STATE if the inventory or the mmap is not started
     */
    public Buf bufByAddress(Mmap mmap, long offset, long length) {
        return take(mmap, offset, length, offset, 0);
    }

    /**
     * A buf that is all data: a task that reads it reads its whole length.
     *
     * @throws DpuException as {@link #bufByAddress}
     */
    public Buf bufByData(Mmap mmap, long offset, long length) {
        return take(mmap, offset, length, offset, length);
    }

    /**
     * A buf with the given data.
     *
     * @param dataOffset offset of the data, from the start of the mmap's range
     * @param dataLength length of the data
     * @throws DpuException as {@link #bufByAddress}; INVALID_VALUE also if the data is not within
     *     the buf
     */
    public Buf bufByArgs(Mmap mmap, long offset, long length, long dataOffset, long dataLength) {
        Buf buf = take(mmap, offset, length, offset, 0);
        try {
            buf.setData(dataOffset, dataLength);
            return buf;
        } catch (DpuException e) {
            buf.release();
            throw e;
        }
    }

    /**
     * A second, independent buf for the same memory and data. For an element of a list only that
     * element is duplicated, and the second buf is in no list.
     *
     * @param buf a buf of this or another inventory
     * @throws DpuException as {@link #bufByAddress}; BAD_STATE also if the buf was released
     */
    public Buf duplicate(Buf buf) {
        Arguments.notNull(buf, "buf");
        return take(buf.mmap(), buf.offset(), buf.length(), buf.dataOffset(), buf.dataLength());
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
        buf.mmap().releaseUser();
        buf.takeIn();
        free[available++] = buf;
    }

    @Override
    boolean hasFixedOffsets() {
        return false;
    }

    @Override
    boolean keepsLastReference() {
        return false;
    }

    private Buf take(Mmap mmap, long offset, long length, long dataOffset, long dataLength) {
        Arguments.notNull(mmap, "mmap");
        requireStarted();
        mmap.requireStarted();
        mmap.requireRange(offset, length);
        if (available == 0) {
            throw noneFree(Status.NO_MEMORY, free.length);
        }
        mmap.retainUser();
        Buf buf = free[--available];
        buf.handOut(mmap, offset, length, dataOffset, dataLength);
        return buf;
    }
}
