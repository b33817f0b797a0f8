package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import org.jspecify.annotations.Nullable;

/**
 * A row of {@link Buf}s of one size over one mmap, one behind the other, found by their number
 * (Core guide, section 3.3.4, {@code doca_buf_arr}).
 *
 * <p>In DOCA it is what a GPU or a DPA works with; here it is for the CPU, and another target is
 * refused with NOT_SUPPORTED: there is no such device. The bufs belong to the array from its start
 * to its stop. They can be used like any other: given data, chained, retained and given to tasks;
 * but their last reference is the array's (NOT_PERMITTED to release it), and they cannot be made to
 * describe other memory (NOT_PERMITTED). When a list is released that one of them is in, it leaves
 * the list and stays in the array with the data that it has.
 *
 * <p>All bufs are made at creation, and nothing is allocated after it. While it is started the mmap
 * cannot be closed. Used by one thread at a time. After a stop it can be started again.
 */
public final class BufArray extends BufOwner implements AutoCloseable {
    /** Whose the bufs are to be used. */
    public enum Target {
        /** The program and its tasks. */
        CPU,
        /** Kernels on a GPU: NOT_SUPPORTED. */
        GPU,
        /** Kernels on a data path accelerator: NOT_SUPPORTED. */
        DPA
    }

    private final Buf[] bufs;
    private @Nullable Mmap mmap;
    private long elementSizeBytes;
    private long startOffset;

    private BufArray(int elements) {
        super("array");
        bufs = new Buf[elements];
        for (int i = 0; i < elements; i++) {
            bufs[i] = new Buf(this);
        }
    }

    /**
     * Creates an array, to be configured.
     *
     * @param elements how many bufs it has, 1 to {@link BufInventory#MAX_ELEMENTS}
     * @throws DpuException INVALID_VALUE if the number is out of range
     */
    public static BufArray create(int elements) {
        return new BufArray(requireElements(elements));
    }

    /**
     * Says what memory the bufs describe: the first begins at the offset, and each other where the
     * one before ends.
     *
     * @param mmap where they lie, local or imported
     * @param elementSizeBytes how long each buf is, at least 1
     * @param startOffset where the first begins in the mmap's range
     * @throws DpuException INVALID_VALUE if a number is out of range; BAD_STATE if the array is
     *     started or closed
     */
    public BufArray setMemory(Mmap mmap, long elementSizeBytes, long startOffset) {
        Arguments.notNull(mmap, "mmap");
        requireIdle("cannot be configured");
        requireElementSize(elementSizeBytes);
        if (startOffset < 0) {
            throw new DpuException(
                    Status.INVALID_VALUE, "start is negative: startOffset=" + startOffset);
        }
        this.mmap = mmap;
        this.elementSizeBytes = elementSizeBytes;
        this.startOffset = startOffset;
        return this;
    }

    /**
     * Says who is to use the bufs; {@link Target#CPU} if it is never said.
     *
     * @throws DpuException NOT_SUPPORTED for any other; BAD_STATE if the array is started or closed
     */
    public BufArray setTarget(Target target) {
        Arguments.notNull(target, "target");
        requireIdle("cannot be configured");
        if (target != Target.CPU) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    "array of bufs for a device that there is not: target=%s, supported=%s"
                            .formatted(target, Target.CPU));
        }
        return this;
    }

    /**
     * Starts it: each buf describes its place, without data.
     *
     * @throws DpuException BAD_STATE if it is started or closed, has no memory (the message names
     *     what is missing), or the mmap is not started; INITIALIZATION if the mmap is too small
     */
    public BufArray start() {
        requireIdle("cannot be started");
        Mmap memory = mmap;
        if (memory == null) {
            throw badState("mandatory item is missing: item=memory");
        }
        memory.requireStarted();
        requireRoom(memory, startOffset, bufs.length, elementSizeBytes, elementSizeBytes);
        memory.retainUser();
        for (int i = 0; i < bufs.length; i++) {
            bufs[i].place(startOffset + i * elementSizeBytes, elementSizeBytes);
            bufs[i].handOut(memory);
        }
        enterStarted();
        return this;
    }

    /**
     * One of the bufs, always the same for a number.
     *
     * @param index its number, from 0
     * @throws DpuException INVALID_VALUE if there is none of this number; BAD_STATE if the array is
     *     not started
     */
    public Buf get(int index) {
        requireStarted();
        if (index < 0 || index >= bufs.length) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "no buf of this number: index=%d, total=%d".formatted(index, bufs.length));
        }
        return bufs[index];
    }

    /** How long each buf is; 0 before it is said. */
    public long elementSizeBytes() {
        return elementSizeBytes;
    }

    /** How many bufs there are. */
    public int total() {
        return bufs.length;
    }

    /**
     * Stops it; its bufs are released.
     *
     * @throws DpuException BAD_STATE if it is not started; IN_USE while one of its bufs is with a
     *     task, in a list, or has references besides the array's
     */
    public void stop() {
        requireStarted();
        for (int i = 0; i < bufs.length; i++) {
            if (!bufs[i].isAlone()) {
                throw new DpuException(
                        Status.IN_USE, "buf is in use: index=%d, buf=%s".formatted(i, bufs[i]));
            }
        }
        for (Buf buf : bufs) {
            buf.takeIn();
        }
        if (mmap != null) {
            mmap.releaseUser();
        }
        enterIdle();
    }

    /**
     * Ends it, stopping it first where it is started; closing twice does nothing.
     *
     * @throws DpuException IN_USE as {@link #stop}
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
        // It was in a list that was released: it has left that, and stays what it is.
    }

    @Override
    boolean hasFixedPlaces() {
        return true;
    }

    @Override
    boolean keepsItsBufs() {
        return true;
    }
}
