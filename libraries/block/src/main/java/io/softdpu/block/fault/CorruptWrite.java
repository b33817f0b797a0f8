package io.softdpu.block.fault;

import io.softdpu.block.spi.BlockRequest;
import io.softdpu.core.Status;

/** Write that succeeds with one bit changed; the memory of the program is not. */
final class CorruptWrite extends StagedWrite {
    private final long bit;

    /**
     * Creates it; {@link #begin} executes it.
     *
     * @param bit number of the bit in the bytes that are written
     */
    CorruptWrite(FaultChannel channel, BlockRequest faulted, int alignmentBytes, long bit) {
        super(channel, faulted, alignmentBytes);
        this.bit = bit;
    }

    /** Begins; returns SUCCESS, or the status to end with. */
    Status begin() {
        Status copied = copy(0, faulted().lengthBytes);
        if (copied == Status.SUCCESS) {
            flip(staging(), 0, bit);
            write();
        }
        return copied;
    }

    @Override
    public void completed(Status ended) {
        faulted().complete(ended);
    }
}
