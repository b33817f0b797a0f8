package io.softdpu.block;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.BlockRequest;
import io.softdpu.block.spi.ExtentList;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Task;
import io.softdpu.core.spi.TaskBase;
import org.jspecify.annotations.Nullable;

/**
 * Task of a block context: its request, and the way of that to the channel and back.
 *
 * @param <T> the public type, which setters return
 */
abstract class BlockTask<T extends Task> extends TaskBase<T> implements BlockRequest.Owner {
    private final ChannelContext block;
    private final BlockRequest request;

    BlockTask(ChannelContext block, BlockOperation operation, @Nullable ExtentList extents) {
        super(block);
        this.block = block;
        this.request = new BlockRequest(operation, this, extents);
    }

    // ---- of each type ----

    /**
     * Checks the operands, fills the request, and marks the buf, last of all.
     *
     * @return null, or the reason of a refusal: nothing is marked then
     */
    abstract @Nullable Refusal prepare();

    /**
     * Returns the buf to the user: the task has ended, or was refused after {@link #prepare}. By
     * default there is none.
     *
     * @param ended SUCCESS, or the failure or refusal
     */
    void release(Status ended) {}

    // ---- submission and completion ----

    final ChannelContext block() {
        return block;
    }

    final BlockRequest request() {
        return request;
    }

    @Override
    protected final @Nullable Refusal onSubmit() {
        Refusal refusal = isFlushing() && block.blockDevice().hasLost() ? block.lost() : prepare();
        if (refusal != null) {
            return refusal;
        }
        request.doneBytes = 0;
        refusal = block.channel().submit(request);
        if (refusal != null) {
            release(refusal.status());
        }
        return refusal;
    }

    @Override
    public final void completed(Status ended) {
        Status result = isFlushing() ? flushed(ended) : ended;
        release(result);
        complete(result);
    }

    /** By default the request has no memory. */
    @Override
    public Status memoryStatus() {
        return Status.SUCCESS;
    }

    private boolean isFlushing() {
        return switch (request.operation) {
            case FLUSH -> true;
            case WRITE, WRITE_ZEROES -> request.fua || block.blockDevice().isWriteThrough();
            case READ, DISCARD, EXTENTS -> false;
        };
    }

    /**
     * The result of a flush: none succeeds once one has failed, in whatever context, since the
     * system tells of a loss only once.
     */
    private Status flushed(Status ended) {
        if (ended == Status.SUCCESS && block.blockDevice().hasLost()) {
            return Status.IO_FAILED;
        }
        if (ended == Status.IO_FAILED
                && (request.operation == BlockOperation.FLUSH
                        || block.blockDevice().mayHaveLost())) {
            block.blockDevice().flushFailed();
        }
        return ended;
    }
}
