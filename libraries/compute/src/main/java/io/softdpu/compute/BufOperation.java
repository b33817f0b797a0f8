package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.MemoryRight;
import io.softdpu.core.spi.Regions;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Operation that reads a list of bufs and writes another, in pieces, and its position in both. From
 * {@link #accept} to {@link #end} both lists are marked. Belongs to one thread at a time; allocates
 * nothing.
 */
@SuppressWarnings("ReferenceEquality") // bufs are objects, not values
abstract class BufOperation {

    /** Result of {@link #advance} if nothing was processed because of a failure. */
    static final long FAILED = -1;

    /** The operands, for messages of refusals. */
    private static final String SOURCE = "operand=source";

    private static final String DESTINATION = "operand=destination";

    private final OperationOwner owner;
    private final MemoryRight reads;
    private final MemoryRight writes;
    private @Nullable Buf source;
    private @Nullable Buf destination;
    private long sizeBytes;
    private long leftBytes;
    private long appendedBytes;
    private boolean failed;
    private Status status = Status.SUCCESS;
    private @Nullable Throwable cause;

    // The current elements of source and destination, and what is left of them.
    private @Nullable Buf from;
    private long fromOffset;
    private long fromLeft;
    private @Nullable Buf to;
    private long toOffset;
    private long toLeft;

    BufOperation(OperationOwner owner, Device device) {
        this.owner = owner;
        this.reads = new MemoryRight(device, Permissions.LOCAL_READ_ONLY);
        this.writes = new MemoryRight(device, Permissions.LOCAL_READ_WRITE);
    }

    // ---- of each kind of operation ----

    /**
     * Processes the next piece.
     *
     * @param budgetBytes limit of bytes read, positive
     * @return number of bytes read, or {@link #FAILED}
     */
    abstract long advance(Copier copier, long budgetBytes);

    /** The operation in a word, for messages. */
    abstract String kind();

    // ---- beginning and end ----

    /**
     * Checks the two lists, and changes nothing.
     *
     * @param size data length of the source
     * @param room tailroom that the destination needs
     * @param maxBytes limit of the size
     * @return null, or the reason of a refusal
     */
    final @Nullable Refusal check(
            Buf newSource, Buf newDestination, long size, long room, long maxBytes) {
        Refusal refusal = checkSize(newSource, newDestination, size, room, maxBytes);
        if (refusal == null) {
            refusal = Refusal.with(reads.check(newSource), SOURCE);
        }
        if (refusal == null) {
            refusal = Refusal.with(writes.check(newDestination), DESTINATION);
        }
        return refusal;
    }

    /**
     * Marks the two lists, which have been checked, and begins.
     *
     * @param size data length of the source
     * @param room bytes of the destination's tailroom that belong to the operation
     * @param appended bytes by which the data of the destination grows on success
     * @return null, or the reason of a refusal: nothing is marked then
     */
    final @Nullable Refusal accept(
            Buf newSource,
            Buf newDestination,
            int maxListLength,
            long size,
            long room,
            long appended) {
        Refusal refusal = mark(newSource, newDestination, maxListLength, room);
        if (refusal != null) {
            return refusal;
        }
        // A store of a reference costs more than a comparison with the present one.
        if (source != newSource) {
            source = newSource;
        }
        if (destination != newDestination) {
            destination = newDestination;
        }
        if (failed) {
            forgetFailure();
        }
        sizeBytes = size;
        leftBytes = size;
        appendedBytes = appended;
        moveFrom(newSource);
        moveTo(newDestination);
        return null;
    }

    /** Returns the bufs to the user; after success the data length of the destination has grown. */
    final void end() {
        Buf written = Objects.requireNonNull(destination, "an operation that has begun");
        Regions.clearInFlight(Objects.requireNonNull(source, "an operation that has begun"));
        Regions.clearInFlight(written);
        if (leftBytes == 0 && !failed) {
            BufLists.appendData(written, appendedBytes);
        }
    }

    final OperationOwner owner() {
        return owner;
    }

    /** Whether everything has been processed. */
    final boolean isDone() {
        return leftBytes == 0;
    }

    /** The status of the failure; SUCCESS unless {@link #advance} has failed. */
    final Status status() {
        return status;
    }

    /** The exception that ended it; null for any other failure. */
    final @Nullable Throwable cause() {
        return cause;
    }

    /** Source, destination and position, for messages; only between begin and end. */
    final String describe() {
        return Text.format(
                "sizeBytes=%d, processedBytes=%d, source=%s, destination=%s",
                sizeBytes, sizeBytes - leftBytes, source, destination);
    }

    // ---- for advance ----

    /** Whether both may still be used: an import may have been revoked since the last piece. */
    final boolean areUsable() {
        return usable(from, reads) && usable(to, writes);
    }

    /** Number of bytes that are still to be read. */
    final long leftBytes() {
        return leftBytes;
    }

    /** Counts bytes as processed. */
    final void processed(long bytes) {
        leftBytes -= bytes;
    }

    /**
     * Moves to the next element of the source if the current one has been read.
     *
     * @return false if the next cannot be used: the operation has failed
     */
    final boolean hasFrom() {
        return fromLeft > 0 || stepFrom();
    }

    /** Number of bytes left in the current element of the source; may be 0. */
    final long fromLeft() {
        return fromLeft;
    }

    /**
     * Moves to the next element of the destination if the current one is full.
     *
     * @return false if the next cannot be used: the operation has failed
     */
    final boolean hasTo() {
        return toLeft > 0 || stepTo();
    }

    /** Number of bytes left in the current element of the destination; may be 0. */
    final long toLeft() {
        return toLeft;
    }

    /** Copies from the current element of the source to that of the destination. */
    final boolean copyPiece(Copier copier, long pieceBytes) {
        MemorySegment read = Regions.segmentOf(Objects.requireNonNull(from, "from"));
        MemorySegment written = Regions.segmentOf(Objects.requireNonNull(to, "to"));
        try {
            copier.payload(read, fromOffset, written, toOffset, pieceBytes);
        } catch (IllegalStateException | InternalError e) {
            return memoryLost(e);
        }
        moveFromBy(pieceBytes);
        moveToBy(pieceBytes);
        return true;
    }

    /** Copies from the current element of the source to the beginning of other memory. */
    final boolean readPiece(Copier copier, MemorySegment into, long pieceBytes) {
        MemorySegment read = Regions.segmentOf(Objects.requireNonNull(from, "from"));
        try {
            copier.payload(read, fromOffset, into, 0, pieceBytes);
        } catch (IllegalStateException | InternalError e) {
            return memoryLost(e);
        }
        moveFromBy(pieceBytes);
        return true;
    }

    /** Copies from other memory to the current element of the destination. */
    final boolean writePiece(Copier copier, MemorySegment out, long outOffset, long pieceBytes) {
        MemorySegment written = Regions.segmentOf(Objects.requireNonNull(to, "to"));
        try {
            copier.payload(out, outOffset, written, toOffset, pieceBytes);
        } catch (IllegalStateException | InternalError e) {
            return memoryLost(e);
        }
        moveToBy(pieceBytes);
        return true;
    }

    /** Fails; the result of {@link #advance} is then {@link #FAILED}. */
    final void fail(Status how, Throwable why) {
        failed = true;
        status = how;
        cause = why;
    }

    // ---- internal ----

    private static @Nullable Refusal checkSize(
            Buf newSource, Buf newDestination, long size, long room, long maxBytes) {
        if (newSource.references() == 0) {
            return BufLists.released("source", newSource);
        }
        if (newDestination.references() == 0) {
            return BufLists.released("destination", newDestination);
        }
        if (size == 0) {
            return Refusal.of(
                    Status.INVALID_VALUE,
                    "source has no data: source=%s, expected=Buf.setData or a buf by data",
                    newSource);
        }
        if (size > maxBytes) {
            return BufLists.tooMuchData("source", newSource, maxBytes);
        }
        return room > BufLists.tailroom(newDestination)
                ? BufLists.tooLittleTailroom("destination", newDestination, room)
                : null;
    }

    private static @Nullable Refusal mark(Buf read, Buf written, int maxListLength, long room) {
        Refusal refusal = Regions.markSource(read, maxListLength);
        if (refusal != null) {
            return Refusal.with(refusal, SOURCE);
        }
        refusal = Regions.markDestination(written, maxListLength, room);
        if (refusal != null) {
            Regions.clearInFlight(read);
        }
        return Refusal.with(refusal, DESTINATION);
    }

    private void forgetFailure() {
        failed = false;
        status = Status.SUCCESS;
        cause = null;
    }

    /** Another thread of the program has closed the memory, or truncated its file. */
    private boolean memoryLost(Throwable how) {
        fail(Status.IO_FAILED, how);
        return false;
    }

    /** Advances to the next element with data; there is one, as the total lengths have shown. */
    private boolean stepFrom() {
        moveFrom(Objects.requireNonNull(Objects.requireNonNull(from, "from").nextInList(), "next"));
        return usable(from, reads);
    }

    private boolean stepTo() {
        moveTo(Objects.requireNonNull(Objects.requireNonNull(to, "to").nextInList(), "next"));
        return usable(to, writes);
    }

    private void moveFrom(Buf element) {
        if (from != element) {
            from = element;
        }
        fromOffset = element.dataOffset();
        fromLeft = element.dataLength();
    }

    private void moveFromBy(long bytes) {
        fromOffset += bytes;
        fromLeft -= bytes;
    }

    private void moveTo(Buf element) {
        if (to != element) {
            to = element;
        }
        toOffset = element.dataOffset() + element.dataLength();
        toLeft = element.tailroom();
    }

    private void moveToBy(long bytes) {
        toOffset += bytes;
        toLeft -= bytes;
    }

    private boolean usable(@Nullable Buf element, MemoryRight right) {
        Refusal refusal = right.check(Objects.requireNonNull(element, "element").mmap());
        if (refusal != null) {
            failed = true;
            status = refusal.status();
        }
        return !failed;
    }
}
