package io.softdpu.block.fault;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.BlockRequest;
import io.softdpu.core.Status;

/** Read that succeeds with one bit changed. */
final class CorruptRead extends FaultedRequest {
    private final long bit;

    /**
     * Creates it; {@link #begin} executes it.
     *
     * @param bit number of the bit in the bytes that are read
     */
    CorruptRead(FaultChannel channel, BlockRequest faulted, long bit) {
        super(channel, faulted);
        this.bit = bit;
    }

    void begin() {
        execute(BlockOperation.READ, faulted().memory, faulted().memoryOffsetBytes);
    }

    @Override
    public Status memoryStatus() {
        return faulted().memoryStatus();
    }

    @Override
    public void completed(Status ended) {
        Status result = ended == Status.SUCCESS ? faulted().memoryStatus() : ended;
        if (result == Status.SUCCESS) {
            try {
                flip(faulted().memory, faulted().memoryOffsetBytes, bit);
            } catch (IllegalStateException e) {
                result = Status.IO_FAILED; // the program has closed the memory
            }
        }
        faulted().complete(result);
    }
}
