package io.softdpu.block;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.MemoryRight;
import io.softdpu.core.spi.Regions;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Task that moves bytes between blocks and a buf.
 *
 * @param <T> the public type, which setters return
 */
abstract class BufTask<T extends Task> extends BlockTask<T> {
    private final MemoryRight right;
    private final String operand;

    /** The operand for messages of refusals: made once, as a submission allocates nothing. */
    private final String details;

    private @Nullable Buf buf;

    /**
     * Creates a task.
     *
     * @param needed rights to the memory of the buf
     * @param operand name of the buf in the task, for messages
     */
    BufTask(ChannelContext block, BlockOperation operation, Permissions needed, String operand) {
        super(block, operation, null);
        this.right = new MemoryRight(block.device(), needed);
        this.operand = operand;
        this.details = "operand=" + operand;
    }

    // ---- of each type ----

    /**
     * Marks the buf.
     *
     * @return null, or the reason of a refusal
     */
    abstract @Nullable Refusal mark(Buf buf);

    // ---- operands ----

    final Buf buf() {
        return requireSet(buf, operand);
    }

    final T setBuf(Buf newBuf) {
        requireUser();
        buf = Arguments.notNull(newBuf, operand);
        return self();
    }

    /** The offset in the device in bytes. */
    public final long offsetBytes() {
        return request().offsetBytes;
    }

    /** Refuses a buf without references. */
    final @Nullable Refusal checkReferences() {
        return RangeCheck.inUse(operand, buf());
    }

    /**
     * Checks range and memory and marks the buf.
     *
     * @param memoryOffsetBytes where the bytes are in the memory of the buf's mmap
     */
    final @Nullable Refusal prepare(long lengthBytes, long memoryOffsetBytes) {
        Buf used = buf();
        Refusal refusal = block().ranges().request(offsetBytes(), lengthBytes);
        if (refusal == null) {
            refusal = Refusal.with(right.check(used.mmap()), details);
        }
        if (refusal == null) {
            refusal = block().ranges().reach(used);
        }
        if (refusal == null) {
            refusal = block().ranges().alignment(used, memoryOffsetBytes);
        }
        if (refusal == null) {
            refusal = Refusal.with(mark(used), details);
        }
        if (refusal == null) {
            request().lengthBytes = lengthBytes;
            setMemory(Regions.segmentOf(used));
            request().memoryOffsetBytes = memoryOffsetBytes;
        }
        return refusal;
    }

    /** Usually the same memory again, and a comparison costs less than a store. */
    @SuppressWarnings({"ReferenceEquality", "MemorySegmentReferenceEquality"})
    private void setMemory(MemorySegment memory) {
        if (request().memory != memory) {
            request().memory = memory;
        }
    }

    @Override
    public final Status memoryStatus() {
        return Refusal.statusOf(right.check(buf().mmap()));
    }

    @Override
    void release(Status ended) {
        Regions.clearInFlight(buf());
    }

    @Override
    protected void onFree() {
        buf = null;
        request().memory = MemorySegment.NULL;
    }
}
