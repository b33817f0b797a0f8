package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.linux.text.Text;
import org.jspecify.annotations.Nullable;

/**
 * Array of adjacent {@link Buf}s of one size in one mmap, accessed by index (Core guide, section
 * 3.3.4, {@code doca_buf_arr}).
 *
 * <p>In DOCA it is for kernels on a GPU or a DPA; here it is for the CPU, and other targets are
 * refused with NOT_SUPPORTED. The bufs belong to the array from its start to its stop. They can be
 * used as any other (with data, chained, retained and passed to tasks), but their last reference
 * belongs to the array (releasing it is NOT_PERMITTED), and they cannot describe other memory
 * (NOT_PERMITTED). When a list with one of them is released, the buf leaves the list and stays in
 * the array with its data.
 *
 * <p>All bufs are made at creation, and nothing is allocated after it. While it is started the mmap
 * cannot be closed. Used by one thread at a time. After a stop it can be started again.
 */
public final class BufArray extends BufOwner implements AutoCloseable {
    /** Processor that uses the bufs. */
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
     * @param elements number of bufs, 1 to {@link BufInventory#MAX_ELEMENTS}
     * @throws DpuException INVALID_VALUE if the number is out of range
     */
    public static BufArray create(int elements) {
        return new BufArray(requireElements(elements));
    }

    /**
     * Sets the memory of the bufs: the first begins at the offset, and each other at the end of the
     * one before.
     *
     * @param mmap the mmap, local or imported
     * @param elementSizeBytes size of a buf, at least 1
     * @param startOffset offset of the first buf in the mmap's range
     * @throws DpuException INVALID_VALUE if a number is out of range; BAD_STATE if the array is
     *     started or closed
     */
    public BufArray setMemory(Mmap mmap, long elementSizeBytes, long startOffset) {
        Arguments.notNull(mmap, "mmap");
        requireIdle("cannot be configured");
        requireElementSize(elementSizeBytes);
        if (startOffset < 0) {
            throw new DpuException(
                    Status.INVALID_VALUE, "start is negative: startOffsetBytes=" + startOffset);
        }
        this.mmap = mmap;
        this.elementSizeBytes = elementSizeBytes;
        this.startOffset = startOffset;
        return this;
    }

    /**
     * Sets the target; {@link Target#CPU} by default.
     *
     * @throws DpuException NOT_SUPPORTED for any other; BAD_STATE if the array is started or closed
     */
    public BufArray setTarget(Target target) {
        Arguments.notNull(target, "target");
        requireIdle("cannot be configured");
        if (target != Target.CPU) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "array of bufs for a device that does not exist: target=%s,"
                                    + " supported=%s",
                            target, Target.CPU));
        }
        return this;
    }

    /**
     * Starts it: each buf describes its element, without data.
     *
     * @throws DpuException BAD_STATE if it is started or closed, has no memory (the message names
     *     what is missing), or the mmap is not started; INITIALIZATION if the mmap is too small
     */
    public BufArray start() {
        requireIdle("cannot be started");
        Mmap memory = mmap;
        if (memory == null) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "mandatory item is missing: item=memory, expected=BufArray.setMemory, before"
                            + " start");
        }
        memory.requireStarted();
        requireCapacity(memory, startOffset, bufs.length, elementSizeBytes, elementSizeBytes);
        memory.retainPool();
        for (int i = 0; i < bufs.length; i++) {
            bufs[i].place(startOffset + i * elementSizeBytes, elementSizeBytes);
            bufs[i].handOut(memory);
        }
        enterStarted();
        return this;
    }

    /**
     * The buf of an index.
     *
     * @param index from 0
     * @throws DpuException INVALID_VALUE if the index is out of range; BAD_STATE if the array is
     *     not started
     */
    public Buf get(int index) {
        requireStarted();
        if (index < 0 || index >= bufs.length) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format("index out of range: index=%d, total=%d", index, bufs.length));
        }
        return bufs[index];
    }

    /** Size of a buf; 0 until it is set. */
    public long elementSizeBytes() {
        return elementSizeBytes;
    }

    /** Number of bufs. */
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
                        Status.IN_USE, Text.format("buf is in use: index=%d, buf=%s", i, bufs[i]));
            }
        }
        for (Buf buf : bufs) {
            buf.takeIn();
        }
        if (mmap != null) {
            mmap.releasePool();
        }
        enterIdle();
    }

    /**
     * Closes it, after stopping it if it is started; idempotent.
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
        // Its list was released: it has left the list and stays as it is.
    }

    @Override
    boolean hasFixedOffsets() {
        return true;
    }

    @Override
    boolean keepsLastReference() {
        return true;
    }
}
