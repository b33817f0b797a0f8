package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.copy.SlicedCopy;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.MemoryServices;
import io.softdpu.core.spi.memory.Regions;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One copy from a list of bufs to another, piece by piece, and where it has come to. From {@link
 * #begin} to {@link #end} both lists are marked. Belongs to one thread at a time; allocates
 * nothing.
 */
@SuppressWarnings("ReferenceEquality") // bufs are objects, not values
final class Copy {
    private static final Regions<Mmap, Buf, Permissions, Device> REGIONS = MemoryServices.regions();

    /** What {@link #advance} gives where nothing was copied because something is wrong. */
    static final long FAILED = -1;

    private static final Permissions READ = Permissions.LOCAL_READ_ONLY;
    private static final Permissions WRITE = Permissions.LOCAL_READ_WRITE;

    private final CopyOwner owner;
    private @Nullable Buf source;
    private @Nullable Buf destination;
    private long sizeBytes;
    private long leftBytes;
    private boolean failed;
    private Status status = Status.SUCCESS;
    private @Nullable Throwable cause;

    /** The piece that is being copied: of one element of the source to one of the destination. */
    private final SlicedCopy piece = new SlicedCopy();

    // The two elements that the copy has come to, and what of them comes after the piece.
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
     * @return SUCCESS, or why the copy cannot be made: nothing is marked then
     */
    Status begin(Buf newSource, Buf newDestination, Device device, DmaCapabilities limits) {
        if (newSource.references() == 0 || newDestination.references() == 0) {
            return Status.BAD_STATE;
        }
        long size = BufLists.dataLength(newSource);
        if (size == 0
                || size > limits.maxBufferBytes()
                || size > BufLists.tailroom(newDestination)) {
            return Status.INVALID_VALUE;
        }
        Status checked = BufLists.checkUse(newSource, device, READ);
        if (checked == Status.SUCCESS) {
            checked = BufLists.checkUse(newDestination, device, WRITE);
        }
        if (checked == Status.SUCCESS) {
            checked = mark(newSource, newDestination, limits.maxBufferListLength(), size);
        }
        if (checked != Status.SUCCESS) {
            return checked;
        }
        // A store of a reference costs more than a look whether it is there already.
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
        piece.end();
        moveFrom(newSource);
        moveTo(newDestination);
        return Status.SUCCESS;
    }

    /** Whether all has been copied. */
    boolean isDone() {
        return leftBytes == 0;
    }

    /** Why it has failed; SUCCESS unless {@link #advance} has said so. */
    Status status() {
        return status;
    }

    /** What the memory said when it was lost under the copy; null for any other failure. */
    @Nullable Throwable cause() {
        return cause;
    }

    /** What it is and how far it has come, for messages; only between begin and end. */
    String describe() {
        return "sizeBytes=%d, copiedBytes=%d, source=%s, destination=%s"
                .formatted(sizeBytes, sizeBytes - leftBytes, source, destination);
    }

    /**
     * Copies on.
     *
     * @param budgetBytes at most how much, positive
     * @return how much, or {@link #FAILED}
     */
    long advance(Copier copier, long budgetBytes) {
        // Both may have been withdrawn since the last time.
        if (!usable(from, READ) || !usable(to, WRITE)) {
            return FAILED;
        }
        long budget = Math.min(budgetBytes, leftBytes);
        long copied = 0;
        while (copied < budget) {
            if (piece.isDone() && !nextPiece()) {
                return FAILED;
            }
            try {
                copied += piece.advance(copier, budget - copied);
            } catch (IllegalStateException | InternalError e) {
                // The program has closed its memory, or cut the file under it, from another thread.
                failed = true;
                status = Status.IO_FAILED;
                cause = e;
                return FAILED;
            }
        }
        leftBytes -= copied;
        return copied;
    }

    /** Gives the bufs back; if all was copied, the destination has grown by it. */
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

    /** Begins with what both elements have, or the next ones; it may be nothing. */
    private boolean nextPiece() {
        if ((fromLeft == 0 && !stepFrom()) || (toLeft == 0 && !stepTo())) {
            return false;
        }
        long size = Math.min(fromLeft, toLeft);
        piece.begin(
                REGIONS.segmentOf(Objects.requireNonNull(from, "from")),
                fromOffset,
                REGIONS.segmentOf(Objects.requireNonNull(to, "to")),
                toOffset,
                size);
        fromOffset += size;
        fromLeft -= size;
        toOffset += size;
        toLeft -= size;
        return true;
    }

    /** Goes on to the next element that has something; there is one, as the sums have shown. */
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
        Status checked =
                REGIONS.checkUse(Objects.requireNonNull(element, "element").mmap(), needed);
        if (checked != Status.SUCCESS) {
            failed = true;
            status = checked;
        }
        return !failed;
    }

    private static Status mark(Buf read, Buf written, int maxBufferListLength, long size) {
        Status marked = REGIONS.markSource(read, maxBufferListLength);
        if (marked != Status.SUCCESS) {
            return marked;
        }
        marked = REGIONS.markDestination(written, maxBufferListLength, size);
        if (marked != Status.SUCCESS) {
            REGIONS.clearInFlight(read);
        }
        return marked;
    }
}
