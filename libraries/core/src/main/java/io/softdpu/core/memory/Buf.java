package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Descriptor of a part of an mmap's memory, for tasks (Core guide, section 3.3.3).
 *
 * <pre>
 *   offset            dataOffset          dataOffset + dataLength      offset + length
 *     |---- headroom ----|------- dataroom -------|------- tailroom ------|
 * </pre>
 *
 * <p>A task that reads the buf reads the dataroom. A task that writes it writes into the tailroom,
 * after the data, and the data length grows by the bytes written. The headroom belongs to the user
 * and is never changed. All offsets are in bytes and count from the start of the mmap's range.
 *
 * <p>Bufs can be {@linkplain #chain chained} into a list, which describes all of their memory: a
 * task reads the datarooms of the elements one after another, and writes their tailrooms one after
 * another until all is written; the last elements may get nothing. A list is referred to by its
 * first element, its head: only the head is passed to tasks, retained and released, and with its
 * last reference the whole list is released. The library limits the length of a list; a longer one
 * is refused with INVALID_VALUE.
 *
 * <p>A buf comes from a {@link BufInventory}, a {@link BufPool} or a {@link BufArray} with one
 * reference, and behaves the same in all cases. It returns there when the last reference is
 * released. It does not own its memory. While it, or its list, is used by a task in flight, it
 * cannot be changed, chained or released (IN_USE). Used by one thread at a time; allocates nothing.
 */
@SuppressWarnings("ReferenceEquality") // bufs and mmaps are objects, not values
public final class Buf {
    /** Limit of references to a buf. */
    public static final int MAX_REFERENCES = 0xffff;

    // Bits of the state, which is 0 for a buf that the user alone has: so a task marks a single buf
    // by one comparison and one store of a number, without the garbage collector's barrier around
    // a reference.

    /** A task reads it, or the list that it is the head of. */
    private static final int SOURCE = 1;

    /** A task writes it, or the list that it is the head of. */
    private static final int DESTINATION = 2;

    /** It is in a list of two elements at least. */
    private static final int LISTED = 4;

    /** It has no reference. */
    private static final int RELEASED = 8;

    private static final int USED = SOURCE | DESTINATION;

    private final BufOwner owner;
    private final @Nullable BufChecker checker;
    private @Nullable Mmap mmap;
    private long offset;
    private long length;
    private long dataOffset;
    private long dataLength;
    private int references;
    private int state = RELEASED;

    /** The list that it is in, by its first element; itself while it is in none. */
    Buf head = this;

    /** The next element of its list. */
    @Nullable Buf next;

    // Used in a head only: last element and length of its list.
    Buf last = this;
    int listLength = 1;

    Buf(BufOwner owner) {
        this.owner = owner;
        this.checker = owner.checker(this);
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

    /** Offset of the buf in the mmap's range. */
    public long offset() {
        return offset;
    }

    /** Length of the buf: headroom, dataroom and tailroom. */
    public long length() {
        return length;
    }

    /** Offset of the data in the mmap's range. */
    public long dataOffset() {
        return dataOffset;
    }

    /** Length of the data. */
    public long dataLength() {
        return dataLength;
    }

    /** Number of bytes before the data. */
    public long headroom() {
        return dataOffset - offset;
    }

    /** Number of bytes that can still be written after the data. */
    public long tailroom() {
        return offset + length - dataOffset - dataLength;
    }

    /**
     * Sets offset and length of the data.
     *
     * @param newDataOffset offset of the data, from the start of the mmap's range
     * @param newDataLength length of the data
     * @throws DpuException INVALID_VALUE if that is not within the buf; IN_USE if a task has it;
     *     BAD_STATE if it was released
     */
    public Buf setData(long newDataOffset, long newDataLength) {
        requireUser();
        if (newDataOffset < offset
                || newDataLength < 0
                || newDataOffset > offset + length
                || newDataLength > offset + length - newDataOffset) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "data is not within the buf: dataOffsetBytes=%d, dataLengthBytes=%d,"
                                    + " offsetBytes=%d, lengthBytes=%d",
                            newDataOffset, newDataLength, offset, length));
        }
        dataOffset = newDataOffset;
        dataLength = newDataLength;
        return this;
    }

    /**
     * Sets the length of the data.
     *
     * @param newDataLength length of the data
     * @throws DpuException as {@link #setData}
     */
    public Buf setDataLength(long newDataLength) {
        return setData(dataOffset, newDataLength);
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

    /** Number of references; 0 after the last was released. */
    public int references() {
        return references;
    }

    /**
     * Adds a reference; for a list, to the head.
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
                    Status.TOO_BIG, Text.format("too many references: max=%d", MAX_REFERENCES));
        }
        references++;
    }

    /**
     * Releases a reference; after the last one the buf returns to its inventory, pool or array, and
     * so do the elements after it in its list, each to its own. The memory is not changed.
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
        if (owner.keepsLastReference()) {
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
     * Appends a list, or a single buf, to this list or buf.
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
                    Text.format(
                            "list to be put behind another must have one reference: references=%d",
                            list.references));
        }
        BufList.append(this, list);
    }

    /**
     * Splits this list at an element: it and all elements after it become a separate list, with one
     * reference. Takes time for each element of this list.
     *
     * <pre>
     *   this: 1 - 2 - 3 - 4 - 5    list: 4    afterwards this: 1 - 2 - 3    list: 4 - 5
     * </pre>
     *
     * @param list the first element of the part that is split off
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
                    Text.format(
                            "not an element behind the head of this list: element=%s, head=%s",
                            list, this));
        }
        BufList.split(this, list);
    }

    /** The next element of its list; null for the last, and for a buf in no list. */
    public @Nullable Buf nextInList() {
        return next;
    }

    /** The last element of its list; itself while it is in none. */
    public Buf lastInList() {
        return head.last;
    }

    /**
     * Number of elements of the list that begins with it; 1 for a buf in no list.
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

    /** Whether it is the head of a list, or in no list. */
    public boolean isFirstInList() {
        return head == this;
    }

    /** Whether it is the last of a list, or in no list. */
    public boolean isLastInList() {
        return next == null;
    }

    /**
     * A segment of its memory, from {@link #offset()}, of {@link #length()} bytes. Allocates: on
     * the data path get {@code mmap().segment()} once and use offsets.
     *
     * @throws DpuException NOT_PERMITTED if the memory is another machine's: only tasks reach it;
     *     BAD_STATE if the buf was released
     */
    public MemorySegment segment() {
        return mmap().segment().asSlice(offset, length);
    }

    /**
     * Its mmap, local or imported, its data, the room before and after it, and the length of its
     * list if it is in one; a released buf says so, with its last place. For messages; reads none
     * of the memory, and never fails.
     */
    @Override
    public String toString() {
        Mmap of = mmap;
        int elements = head.listLength;
        return Text.format(
                "buf[%sdataOffsetBytes=%d, dataLengthBytes=%d, headroomBytes=%d,"
                        + " tailroomBytes=%d%s%s]",
                of == null ? "released, " : "",
                dataOffset,
                dataLength,
                headroom(),
                tailroom(),
                elements > 1
                        ? (head == this ? ", listLength=" : ", behind the head of listLength=")
                                + elements
                        : "",
                of == null ? "" : ", references=" + references + ", mmap=" + of);
    }

    // ---- for the owner, which counts on the mmap ----

    /** Sets its offset and length; it has no references. */
    void place(long at, long size) {
        offset = at;
        length = size;
    }

    /** Hands it to the user, without data. */
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
        state &= ~RELEASED;
        if (checker != null) {
            checker.handedOut();
        }
    }

    /** Returns it to the owner. */
    void takeIn() {
        mmap = null;
        references = 0;
        state = RELEASED;
        if (checker != null) {
            checker.takenIn();
        }
    }

    /** Whether the owner's reference is the only one, and neither a task nor a list has it. */
    boolean isAlone() {
        return references == 1 && state == 0;
    }

    // ---- for its list ----

    /** Sets whether it is in a list of two elements at least. */
    void setListed(boolean listed) {
        state = listed ? state | LISTED : state & ~LISTED;
    }

    // ---- for the libraries above ----

    @Nullable Refusal markSource(int maxListLength) {
        return mark(SOURCE, maxListLength, 0);
    }

    @Nullable Refusal markDestination(int maxListLength, long atMostBytes) {
        return mark(DESTINATION, maxListLength, atMostBytes);
    }

    void clearInFlight() {
        if (checker != null && isUsed()) {
            checker.cleared();
        }
        state &= ~USED;
    }

    private @Nullable Refusal mark(int use, int maxListLength, long writtenBytes) {
        if (state != 0 && !mayMarkList(maxListLength)) {
            return notMarked(maxListLength);
        }
        state |= use;
        if (checker != null) {
            checker.marked(use == SOURCE, writtenBytes);
        }
        return null;
    }

    private boolean mayMarkList(int maxListLength) {
        return state == LISTED && head == this && listLength <= maxListLength;
    }

    private boolean isUsed() {
        return (state & USED) != 0;
    }

    private Refusal notMarked(int maxListLength) {
        if (references == 0) {
            misused("buf was given to a task after its release");
            return Refusal.of(Status.BAD_STATE, "buf was released: buf=%s", this);
        }
        if (head != this) {
            return Refusal.of(
                    Status.NOT_PERMITTED,
                    "buf is in a list behind its head: buf=%s, expected=the head of the list",
                    this);
        }
        if (!isUsed()) {
            return Refusal.of(
                    Status.INVALID_VALUE,
                    "buf list is too long: listLength=%d, buf=%s, expected=%d at most",
                    listLength,
                    this,
                    maxListLength);
        }
        misused("buf was given to a second task");
        return Refusal.of(
                Status.IN_USE,
                "buf is in flight: usedAs=%s, buf=%s, expected=the completion of the task that has"
                        + " it",
                (state & SOURCE) != 0 ? "source" : "destination",
                this);
    }

    void appendData(long sizeBytes) {
        if (sizeBytes < 0 || sizeBytes > tailroom()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "more data than tailroom: sizeBytes=%d, tailroom=%d",
                            sizeBytes, tailroom()));
        }
        dataLength += sizeBytes;
    }

    private void reuse(Mmap newMmap, long newOffset, long newLength, long newDataLength) {
        Arguments.notNull(newMmap, "newMmap");
        requireUser();
        if (owner.hasFixedOffsets()) {
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
                    Text.format(
                            "buf is in a list behind its head: buf=%s, listLength=%d",
                            this, head.listLength));
        }
    }

    private void requireUser() {
        if (head.isUsed()) {
            misused("buf was changed or released in flight");
            throw new DpuException(Status.IN_USE, "a task has the buf: buf=" + this);
        }
        if (references == 0) {
            throw released();
        }
    }

    private void misused(String how) {
        if (checker != null) {
            checker.misused(how);
        }
    }

    private DpuException released() {
        misused("buf was used after its release");
        return new DpuException(Status.BAD_STATE, "buf was released: references=0");
    }
}
