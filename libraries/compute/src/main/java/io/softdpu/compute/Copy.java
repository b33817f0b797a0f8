package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.MemoryServices;
import io.softdpu.core.spi.memory.Regions;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Copy from a list of bufs to another, in pieces, and its position. From {@link #begin} to {@link
 * #end} both lists are marked. Belongs to one thread at a time; allocates nothing.
 */
@SuppressWarnings("ReferenceEquality") // bufs are objects, not values
final class Copy {
    private static final Regions<Mmap, Buf, Permissions, Device> REGIONS = MemoryServices.regions();

    /** Result of {@link #advance} if nothing was copied because of a failure. */
    static final long FAILED = -1;

    private static final Permissions READ = Permissions.LOCAL_READ_ONLY;
    private static final Permissions WRITE = Permissions.LOCAL_READ_WRITE;

    /** The operands, for messages of refusals. */
    private static final String SOURCE = "operand=source";

    private static final String DESTINATION = "operand=destination";

    private final CopyOwner owner;
    private @Nullable Buf source;
    private @Nullable Buf destination;
    private long sizeBytes;
    private long leftBytes;
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

    Copy(CopyOwner owner) {
        this.owner = owner;
    }

    CopyOwner owner() {
        return owner;
    }

    /**
     * Checks the two lists and marks them.
     *
     * @return null, or the reason of a refusal: nothing is marked then
     */
    @Nullable Refusal begin(
            Buf newSource, Buf newDestination, Device device, DmaCapabilities limits) {
        long size = BufLists.dataLength(newSource);
        Refusal refusal = checkSize(newSource, newDestination, size, limits.maxBufferBytes());
        if (refusal == null) {
            refusal = Refusal.with(BufLists.checkUse(newSource, device, READ), SOURCE);
        }
        if (refusal == null) {
            refusal = Refusal.with(BufLists.checkUse(newDestination, device, WRITE), DESTINATION);
        }
        if (refusal == null) {
            refusal = mark(newSource, newDestination, limits.maxBufferListLength(), size);
        }
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
        moveFrom(newSource);
        moveTo(newDestination);
        return null;
    }

    private static @Nullable Refusal checkSize(
            Buf newSource, Buf newDestination, long size, long maxBytes) {
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
        return size > BufLists.tailroom(newDestination)
                ? BufLists.tooLittleTailroom("destination", newDestination, size)
                : null;
    }

    /** Whether everything has been copied. */
    boolean isDone() {
        return leftBytes == 0;
    }

    /** The status of the failure; SUCCESS unless {@link #advance} has failed. */
    Status status() {
        return status;
    }

    /** The exception if the memory was freed during the copy; null for any other failure. */
    @Nullable Throwable cause() {
        return cause;
    }

    /** Source, destination and position, for messages; only between begin and end. */
    String describe() {
        return "sizeBytes=%d, copiedBytes=%d, source=%s, destination=%s"
                .formatted(sizeBytes, sizeBytes - leftBytes, source, destination);
    }

    /**
     * Copies the next piece.
     *
     * @param budgetBytes limit of bytes, positive
     * @return number of bytes copied, or {@link #FAILED}
     */
    long advance(Copier copier, long budgetBytes) {
        // Both may have been revoked since the last piece.
        if (!usable(from, READ) || !usable(to, WRITE)) {
            return FAILED;
        }
        long budget = Math.min(budgetBytes, leftBytes);
        long copied = 0;
        while (copied < budget) {
            if ((fromLeft == 0 && !stepFrom()) || (toLeft == 0 && !stepTo())) {
                return FAILED;
            }
            long piece = Math.min(Math.min(fromLeft, toLeft), budget - copied);
            if (piece > 0 && !copyPiece(copier, piece)) {
                return FAILED;
            }
            copied += piece;
        }
        leftBytes -= copied;
        return copied;
    }

    /** Returns the bufs to the user; after success the data length of the destination has grown. */
    void end() {
        Buf written = Objects.requireNonNull(destination, "a copy that has begun");
        REGIONS.clearInFlight(Objects.requireNonNull(source, "a copy that has begun"));
        REGIONS.clearInFlight(written);
        if (leftBytes == 0 && !failed) {
            BufLists.appendData(written, sizeBytes);
        }
    }

    private void forgetFailure() {
        failed = false;
        status = Status.SUCCESS;
        cause = null;
    }

    private boolean copyPiece(Copier copier, long pieceBytes) {
        MemorySegment read = REGIONS.segmentOf(Objects.requireNonNull(from, "from"));
        MemorySegment written = REGIONS.segmentOf(Objects.requireNonNull(to, "to"));
        try {
            copier.payload(read, fromOffset, written, toOffset, pieceBytes);
        } catch (IllegalStateException | InternalError e) {
            // Another thread of the program has closed the memory, or truncated its file.
            failed = true;
            status = Status.IO_FAILED;
            cause = e;
            return false;
        }
        fromOffset += pieceBytes;
        fromLeft -= pieceBytes;
        toOffset += pieceBytes;
        toLeft -= pieceBytes;
        return true;
    }

    /** Advances to the next element with data; there is one, as the total lengths have shown. */
    private boolean stepFrom() {
        moveFrom(Objects.requireNonNull(Objects.requireNonNull(from, "from").nextInList(), "next"));
        return usable(from, READ);
    }

    private boolean stepTo() {
        moveTo(Objects.requireNonNull(Objects.requireNonNull(to, "to").nextInList(), "next"));
        return usable(to, WRITE);
    }

    private void moveFrom(Buf element) {
        if (from != element) {
            from = element;
        }
        fromOffset = element.dataOffset();
        fromLeft = element.dataLength();
    }

    private void moveTo(Buf element) {
        if (to != element) {
            to = element;
        }
        toOffset = element.dataOffset() + element.dataLength();
        toLeft = element.tailroom();
    }

    private boolean usable(@Nullable Buf element, Permissions needed) {
        Refusal refusal =
                REGIONS.checkUse(Objects.requireNonNull(element, "element").mmap(), needed);
        if (refusal != null) {
            failed = true;
            status = refusal.status();
        }
        return !failed;
    }

    private static @Nullable Refusal mark(
            Buf read, Buf written, int maxBufferListLength, long size) {
        Refusal refusal = REGIONS.markSource(read, maxBufferListLength);
        if (refusal != null) {
            return Refusal.with(refusal, SOURCE);
        }
        refusal = REGIONS.markDestination(written, maxBufferListLength, size);
        if (refusal != null) {
            REGIONS.clearInFlight(read);
        }
        return Refusal.with(refusal, DESTINATION);
    }
}
