package io.softdpu.block.spi;

import io.softdpu.core.Status;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Request of a task to a channel. A task owns one permanently and fills it at each submission; from
 * its acceptance to {@link #complete} it belongs to the channel. Public fields instead of
 * accessors, since both sides access nearly all of them per request, and no other code does.
 *
 * <p>Offset and length are multiples of the block size, not beyond the device, and the length is
 * positive, except for a flush, which has none.
 */
public final class BlockRequest {
    /** Task that owns a request. The engine's thread, inside progress. */
    public interface Owner {
        /**
         * The request has ended and belongs to the task again, whose callback runs now: it may
         * submit, stop or close. Allocates nothing.
         */
        void completed(Status ended);

        /**
         * Checks that the memory may still be used, for a channel that copies in several passes.
         *
         * @return SUCCESS, or the status to end with: an exporter has revoked it, or has ended
         */
        Status memoryStatus();
    }

    /** The operation; fixed. */
    public final BlockOperation operation;

    /** Extents to be found, of {@link BlockOperation#EXTENTS} alone; else null. Fixed. */
    public final @Nullable ExtentList extents;

    /** Offset in the device in bytes. */
    public long offsetBytes;

    /** Length in bytes. */
    public long lengthBytes;

    /** Whether a write, or a write of zeros, is durable when it completes. */
    public boolean fua;

    /** Whether a write of zeros keeps the blocks allocated. */
    public boolean keepAllocated;

    /** Memory to read into or to write from: the whole range of an mmap; NULL without one. */
    public MemorySegment memory = MemorySegment.NULL;

    /** Where the bytes are in {@link #memory}. */
    public long memoryOffsetBytes;

    /** For the channel while it owns the request: bytes done so far; 0 when it is submitted. */
    public long doneBytes;

    /** For the channel while it owns the request. */
    public long channelWord;

    /** The next older one in a {@link CompletionQueue}, then the next younger one. */
    @Nullable BlockRequest next;

    /** The result, in a {@link CompletionQueue}. */
    Status result = Status.SUCCESS;

    private final Owner owner;

    /**
     * Creates the request of a task.
     *
     * @param extents where to put extents; null for any other operation
     */
    public BlockRequest(BlockOperation operation, Owner owner, @Nullable ExtentList extents) {
        this.operation = operation;
        this.owner = owner;
        this.extents = extents;
    }

    /** Ends the request, once for each acceptance; inside progress. Runs callbacks of users. */
    public void complete(Status ended) {
        owner.completed(ended);
    }

    /** Checks the memory again, as {@link Owner#memoryStatus()}. */
    public Status memoryStatus() {
        return owner.memoryStatus();
    }
}
