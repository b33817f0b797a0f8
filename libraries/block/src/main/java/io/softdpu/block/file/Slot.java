package io.softdpu.block.file;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.BlockRequest;
import io.softdpu.core.Status;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Place of a request in a channel, and the step of it that is under way. Belongs to the channel,
 * and to a thread of the device while that does the step.
 */
final class Slot implements BlockRequest.Owner {
    /** Result of a step that was taken back before it was begun. */
    static final long NOT_BEGUN = Long.MIN_VALUE;

    /** Number of the place in its channel. */
    final int index;

    /** What a thread of the device reports the end of a step by. */
    final BlockRequest report = new BlockRequest(BlockOperation.FLUSH, this, null);

    /** The request; null while the place is free. */
    @Nullable BlockRequest request;

    /** Counts the steps, so that a completion is taken for no other one than its own. */
    int generation;

    /** The step. */
    Step step = Step.READ;

    /** Mode of {@link Step#ALLOCATE}. */
    int mode;

    /** Where in the file the step begins, in bytes. */
    long offsetBytes;

    /** Length of the step in bytes. */
    long lengthBytes;

    /** Memory of the step. */
    MemorySegment memory = MemorySegment.NULL;

    /** Where in that memory, in bytes. */
    long memoryOffsetBytes;

    /** Whether a write is durable by itself, and so has the turn of the syncs of its channel. */
    boolean durable;

    /** Whether the system could not do the step as a whole, and smaller ones are to be tried. */
    boolean small;

    /** Result: 0 or a number of bytes; an errno with the sign changed; {@link #NOT_BEGUN}. */
    long result;

    private final StepChannel channel;

    Slot(StepChannel channel, int index) {
        this.channel = channel;
        this.index = index;
    }

    /** The step of this place has ended, on a thread of the device. The engine's thread. */
    @Override
    public void completed(Status ended) {
        channel.stepEnded(this, result);
    }

    /** Not asked for: a report has no memory. */
    @Override
    public Status memoryStatus() {
        return Status.SUCCESS;
    }
}
