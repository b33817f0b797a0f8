package io.softdpu.block.fault;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.BlockRequest;
import io.softdpu.core.Status;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Write of other bytes than the program's, from memory of its own. */
abstract class StagedWrite extends FaultedRequest {
    private final MemorySegment staging;

    StagedWrite(FaultChannel channel, BlockRequest faulted, int alignmentBytes) {
        super(channel, faulted);
        staging = Arena.ofAuto().allocate(faulted.lengthBytes, alignmentBytes);
    }

    /** The bytes to write. */
    final MemorySegment staging() {
        return staging;
    }

    /**
     * Copies bytes of the program.
     *
     * @return SUCCESS, or the status to end with: the program has closed or revoked the memory
     */
    final Status copy(long fromBytes, long sizeBytes) {
        Status usable = faulted().memoryStatus();
        if (usable != Status.SUCCESS) {
            return usable;
        }
        try {
            MemorySegment.copy(
                    faulted().memory,
                    faulted().memoryOffsetBytes + fromBytes,
                    staging,
                    fromBytes,
                    sizeBytes);
            return Status.SUCCESS;
        } catch (IllegalStateException | InternalError e) {
            return Status.IO_FAILED;
        }
    }

    /** Writes the bytes to the blocks. */
    final void write() {
        execute(BlockOperation.WRITE, staging, 0);
    }

    /** The memory is this object's own. */
    @Override
    public final Status memoryStatus() {
        return Status.SUCCESS;
    }
}
