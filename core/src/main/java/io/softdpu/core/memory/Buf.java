package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.spi.Arguments;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The description of a part of an mmap's memory, for tasks to work on (Core guide, section 3.3.3).
 *
 * <pre>
 *   offset            dataOffset          dataOffset + dataLength      offset + length
 *     |---- headroom ----|------- dataroom -------|------- tailroom ------|
 * </pre>
 *
 * <p>A task that reads the buf reads the dataroom. A task that writes it writes into the tailroom,
 * behind the data that is there, and the data length grows by what was written. The headroom is the
 * user's and is never touched. All offsets are in bytes and count from the start of the mmap's
 * range.
 *
 * <p>A buf comes from a {@link BufInventory} with one reference and goes back when the last is
 * released. It does not own its memory. While a task has it, it cannot be changed or released
 * (IN_USE). Used by one thread at a time; allocates nothing.
 */
public final class Buf {
    private final BufInventory inventory;
    private @Nullable Mmap mmap;
    private long offset;
    private long length;
    private long dataOffset;
    private long dataLength;
    private int references;
    private boolean inFlight;

    Buf(BufInventory inventory) {
        this.inventory = inventory;
    }

    /**
     * The mmap whose memory it describes.
     *
     * @throws DpuException BAD_STATE if it was released
     */
    public Mmap mmap() {
        if (mmap == null) {
            throw released();
        }
        return mmap;
    }

    /** Where it begins. */
    public long offset() {
        return offset;
    }

    /** How long it is: headroom, dataroom and tailroom. */
    public long length() {
        return length;
    }

    /** Where its data begins. */
    public long dataOffset() {
        return dataOffset;
    }

    /** How much data it has. */
    public long dataLength() {
        return dataLength;
    }

    /** How much lies before its data. */
    public long headroom() {
        return dataOffset - offset;
    }

    /** How much can still be written behind its data. */
    public long tailroom() {
        return offset + length - dataOffset - dataLength;
    }

    /**
     * Says where its data is.
     *
     * @param newDataOffset where the data begins, counted from the start of the mmap's range
     * @param newDataLength how long it is
     * @throws DpuException INVALID_VALUE if that is not within the buf; IN_USE if a task has it;
     *     BAD_STATE if it was released
     */
    public void setData(long newDataOffset, long newDataLength) {
        requireUser();
        if (newDataOffset < offset
                || newDataLength < 0
                || newDataOffset > offset + length
                || newDataLength > offset + length - newDataOffset) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "data is not within the buf: dataOffset=%d, dataLength=%d, offset=%d, length=%d"
                            .formatted(newDataOffset, newDataLength, offset, length));
        }
        dataOffset = newDataOffset;
        dataLength = newDataLength;
    }

    /**
     * Sets the data length to 0, so that a task writes from the same data offset again.
     *
     * @throws DpuException IN_USE if a task has it; BAD_STATE if it was released
     */
    public void resetDataLength() {
        requireUser();
        dataLength = 0;
    }

    /**
     * Makes it describe other memory, with no data; the references stay.
     *
     * @throws DpuException as {@link BufInventory#bufByAddress}; IN_USE if a task has it; BAD_STATE
     *     if it was released
     */
    public void reuseByAddress(Mmap newMmap, long newOffset, long newLength) {
        reuse(newMmap, newOffset, newLength, 0);
    }

    /**
     * Makes it describe other memory, all of it data; the references stay.
     *
     * @throws DpuException as {@link #reuseByAddress}
     */
    public void reuseByData(Mmap newMmap, long newOffset, long newLength) {
        reuse(newMmap, newOffset, newLength, newLength);
    }

    /** How many references there are; 0 after the last was released. */
    public int references() {
        return references;
    }

    /**
     * Takes one reference more.
     *
     * @throws DpuException BAD_STATE if the buf was released
     */
    public void retain() {
        if (references == 0) {
            throw released();
        }
        references++;
    }

    /**
     * Gives a reference back; with the last one the buf goes back to its inventory. The memory
     * stays as it is.
     *
     * @throws DpuException BAD_STATE if there is none left; IN_USE if it is the last and a task has
     *     the buf
     */
    public void release() {
        if (references == 0) {
            throw released();
        }
        if (references == 1) {
            requireUser();
            mmap().releaseUser();
            mmap = null;
            references = 0;
            inventory.put(this);
        } else {
            references--;
        }
    }

    /**
     * A view of the memory from {@link #offset()} on, {@link #length()} bytes long. Makes an
     * object: on the data path rather take {@code mmap().segment()} once, and offsets.
     *
     * @throws DpuException NOT_PERMITTED if the memory is another machine's: only tasks reach it;
     *     BAD_STATE if the buf was released
     */
    public MemorySegment segment() {
        return mmap().segment().asSlice(offset, length);
    }

    @Override
    public String toString() {
        return "buf[offset=%d, length=%d, dataOffset=%d, dataLength=%d, references=%d]"
                .formatted(offset, length, dataOffset, dataLength, references);
    }

    // ---- for the inventory ----

    /** The caller has counted this buf on the mmap. */
    void handOut(Mmap from, long at, long size, long dataAt, long dataSize) {
        mmap = from;
        offset = at;
        length = size;
        dataOffset = dataAt;
        dataLength = dataSize;
        references = 1;
    }

    // ---- for the libraries above ----

    boolean markInFlight() {
        if (inFlight || references == 0) {
            return false;
        }
        inFlight = true;
        return true;
    }

    void clearInFlight() {
        inFlight = false;
    }

    void appendData(long sizeBytes) {
        if (sizeBytes < 0 || sizeBytes > tailroom()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "more data than tailroom: sizeBytes=%d, tailroom=%d"
                            .formatted(sizeBytes, tailroom()));
        }
        dataLength += sizeBytes;
    }

    private void reuse(Mmap newMmap, long newOffset, long newLength, long newDataLength) {
        Arguments.notNull(newMmap, "newMmap");
        requireUser();
        Mmap before = mmap();
        newMmap.requireStarted();
        newMmap.requireRange(newOffset, newLength);
        if (newMmap != before) { // the same object, not an equal one
            newMmap.retainUser();
            before.releaseUser();
        }
        mmap = newMmap;
        offset = newOffset;
        length = newLength;
        dataOffset = newOffset;
        dataLength = newDataLength;
    }

    private void requireUser() {
        if (inFlight) {
            throw new DpuException(Status.IN_USE, "a task has the buf: buf=" + this);
        }
        if (references == 0) {
            throw released();
        }
    }

    private static DpuException released() {
        return new DpuException(Status.BAD_STATE, "buf was released: references=0");
    }
}
