package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
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
 * <p>Bufs can be {@linkplain #chain chained} into a list, which stands for all of their memory: a
 * task reads the datarooms of the elements one after another, and writes their tailrooms one after
 * another until all is written; the last elements may get nothing. A list is named by its first
 * element, its head: only the head is given to tasks, retained and released, and with its last
 * reference the whole list goes back. How long a list may be is a question to the library; one that
 * is too long is refused with INVALID_VALUE.
 *
 * <p>A buf comes from a {@link BufInventory}, a {@link BufPool} or a {@link BufArray} with one
 * reference, and is the same wherever it comes from. It goes back when the last is released. It
 * does not own its memory. While a task has it, or has the list that it is in, it cannot be
 * changed, chained or released (IN_USE). Used by one thread at a time; allocates nothing.
 */
@SuppressWarnings("ReferenceEquality") // bufs and mmaps are objects, not values
public final class Buf {
    /** Most references that a buf can have. */
    public static final int MAX_REFERENCES = 0xffff;

    private enum Use {
        /** The user's. */
        NONE,
        /** A task reads it. */
        SOURCE,
        /** A task writes it. */
        DESTINATION
    }

    private final BufOwner owner;
    private final @Nullable BufWatch watch;
    private @Nullable Mmap mmap;
    private long offset;
    private long length;
    private long dataOffset;
    private long dataLength;
    private int references;

    /** The list that it is in, by its first element; itself while it is in none. */
    Buf head = this;

    /** What follows it in its list. */
    @Nullable Buf next;

    // Of a head alone: its list's last element, how many there are, and what a task does with it.
    Buf last = this;
    int listLength = 1;
    private Use use = Use.NONE;

    Buf(BufOwner owner) {
        this.owner = owner;
        this.watch = owner.watch(this);
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
     * Says how much data it has, from where its data begins.
     *
     * @param newDataLength how long it is
     * @throws DpuException as {@link #setData}
     */
    public void setDataLength(long newDataLength) {
        setData(dataOffset, newDataLength);
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
     *     if it was released; NOT_PERMITTED if it comes from a pool or an array
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

    // ---- references ----

    /** How many references there are; 0 after the last was released. */
    public int references() {
        return references;
    }

    /**
     * Takes one reference more; of a list, to the head.
     *
     * @throws DpuException BAD_STATE if the buf was released; NOT_PERMITTED if it is in a list
     *     behind its head; TOO_BIG if it has {@link #MAX_REFERENCES}
     */
    public void retain() {
        if (references == 0) {
            throw released();
        }
        requireHead();
        if (references == MAX_REFERENCES) {
            throw new DpuException(
                    Status.TOO_BIG, "too many references: max=%d".formatted(MAX_REFERENCES));
        }
        references++;
    }

    /**
     * Gives a reference back; with the last one the buf goes back to where it came from, and so do
     * all those behind it in its list, each to its own. The memory stays as it is.
     *
     * @throws DpuException BAD_STATE if there is none left; NOT_PERMITTED if it is in a list behind
     *     its head: release the head, or take it out first; NOT_PERMITTED also if it is the last of
     *     a buf of a {@link BufArray}; IN_USE if it is the last and a task has the buf
     */
    public void release() {
        if (references == 0) {
            throw released();
        }
        requireHead();
        if (references > 1) {
            references--;
            return;
        }
        requireUser();
        if (owner.keepsItsBufs()) {
            throw new DpuException(
                    Status.NOT_PERMITTED, "last reference is the array's: buf=" + this);
        }
        @Nullable Buf element = this;
        while (element != null) {
            @Nullable Buf following = element.next;
            BufList.clear(element);
            element.owner.takeBack(element);
            element = following;
        }
    }

    // ---- lists ----

    /**
     * Puts a list, or a buf that is in none, behind this list or buf.
     *
     * <pre>
     *   this: 1 - 2 - 3    list: 4 - 5    afterwards this: 1 - 2 - 3 - 4 - 5
     * </pre>
     *
     * <p>The references of the list go with it: it is released with this one. The memory of two
     * elements may be in different mmaps, and may overlap. Takes time for each element of the list
     * that is put behind.
     *
     * @param list the head of another list, with one reference
     * @throws DpuException BAD_STATE if one of the two was released; IN_USE if a task has one of
     *     them; NOT_PERMITTED if one of them is in a list behind its head, or the list has several
     *     references; INVALID_VALUE if the two are the same
     */
    public void chain(Buf list) {
        Arguments.notNull(list, "list");
        requireUser();
        list.requireUser();
        requireHead();
        list.requireHead();
        if (list == this) {
            throw new DpuException(
                    Status.INVALID_VALUE, "buf cannot be put behind itself: buf=" + this);
        }
        if (list.references != 1) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "list to be put behind another must have one reference: references=%d"
                            .formatted(list.references));
        }
        BufList.append(this, list);
    }

    /**
     * Takes an element out of this list, and all those behind it: they are a list of their own
     * again, with one reference. Takes time for each element of this list.
     *
     * <pre>
     *   this: 1 - 2 - 3 - 4 - 5    list: 4    afterwards this: 1 - 2 - 3    list: 4 - 5
     * </pre>
     *
     * @param list where the part begins that is to be taken out
     * @throws DpuException BAD_STATE if this was released; IN_USE if a task has the list;
     *     NOT_PERMITTED if this is in a list behind its head; INVALID_VALUE if the other is not in
     *     this list, or is its head
     */
    public void unchain(Buf list) {
        Arguments.notNull(list, "list");
        requireUser();
        requireHead();
        if (list == this || list.head != this) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "not an element behind the head of this list: element=%s, head=%s"
                            .formatted(list, this));
        }
        BufList.split(this, list);
    }

    /** What follows it in its list; null behind the last, and for a buf that is in none. */
    public @Nullable Buf nextInList() {
        return next;
    }

    /** The last element of its list; itself while it is in none. */
    public Buf lastInList() {
        return head.last;
    }

    /**
     * How many elements the list has that begins with it; 1 while it is in none.
     *
     * @throws DpuException NOT_PERMITTED if it is in a list behind its head
     */
    public int listLength() {
        requireHead();
        return listLength;
    }

    /** Whether it is in a list, of two elements at least. */
    public boolean isInList() {
        return head.listLength > 1;
    }

    /** Whether nothing comes before it: the head of a list, or a buf that is in none. */
    public boolean isFirstInList() {
        return head == this;
    }

    /** Whether nothing follows it: the last of a list, or a buf that is in none. */
    public boolean isLastInList() {
        return next == null;
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
        return "buf[offset=%d, length=%d, dataOffset=%d, dataLength=%d, references=%d, listLength=%d]"
                .formatted(offset, length, dataOffset, dataLength, references, head.listLength);
    }

    // ---- for the owner, which counts on the mmap ----

    /** Says where it lies from now on; it has been released. */
    void place(long at, long size) {
        offset = at;
        length = size;
    }

    /** The user has it now, at its place, without data. */
    void handOut(Mmap from) {
        handOut(from, offset, length, offset, 0);
    }

    void handOut(Mmap from, long at, long size, long dataAt, long dataSize) {
        mmap = from;
        offset = at;
        length = size;
        dataOffset = dataAt;
        dataLength = dataSize;
        references = 1;
        if (watch != null) {
            watch.handedOut();
        }
    }

    /** The owner has it again. */
    void takeIn() {
        mmap = null;
        references = 0;
        if (watch != null) {
            watch.takenIn();
        }
    }

    /** Whether the owner's reference is the only one, and neither a task nor a list has it. */
    boolean isAlone() {
        return references == 1 && head == this && listLength == 1 && use == Use.NONE;
    }

    // ---- for the libraries above ----

    Status markSource(int maxListLength) {
        return mark(Use.SOURCE, maxListLength, 0);
    }

    Status markDestination(int maxListLength, long atMostBytes) {
        return mark(Use.DESTINATION, maxListLength, atMostBytes);
    }

    void clearInFlight() {
        if (watch != null && use != Use.NONE) {
            watch.cleared();
        }
        use = Use.NONE;
    }

    private Status mark(Use by, int maxListLength, long writtenBytes) {
        if (references > 0 && head == this && use == Use.NONE && listLength <= maxListLength) {
            use = by;
            if (watch != null) {
                watch.marked(by == Use.SOURCE, writtenBytes);
            }
            return Status.SUCCESS;
        }
        if (references == 0) {
            misused("buf was given to a task after its release");
            return Status.BAD_STATE;
        }
        if (head != this) {
            return Status.NOT_PERMITTED;
        }
        if (use == Use.NONE) {
            return Status.INVALID_VALUE;
        }
        misused("buf was given to a second task");
        return Status.IN_USE;
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
        if (owner.hasFixedPlaces()) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "only a buf of an inventory can describe other memory: buf=" + this);
        }
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

    private void requireHead() {
        if (head != this) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "buf is in a list behind its head: buf=%s, listLength=%d"
                            .formatted(this, head.listLength));
        }
    }

    private void requireUser() {
        if (head.use != Use.NONE) {
            misused("buf was changed or released in flight");
            throw new DpuException(Status.IN_USE, "a task has the buf: buf=" + this);
        }
        if (references == 0) {
            throw released();
        }
    }

    private void misused(String how) {
        if (watch != null) {
            watch.misused(how);
        }
    }

    private DpuException released() {
        misused("buf was used after its release");
        return new DpuException(Status.BAD_STATE, "buf was released: references=0");
    }
}
