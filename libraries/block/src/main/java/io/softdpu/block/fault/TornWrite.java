package io.softdpu.block.fault;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.BlockRequest;
import io.softdpu.core.Status;
import java.util.SplittableRandom;

/**
 * Write that fails with some of its sectors written: each is old or new. Reads the blocks first,
 * since their size may be that of several sectors.
 */
final class TornWrite extends StagedWrite {
    /** What a disk writes as a whole. */
    private static final int SECTOR_BYTES = 512;

    private final SplittableRandom random;
    private boolean isRead;

    /**
     * Creates it; {@link #begin} executes it.
     *
     * @param seed decides which sectors are written
     */
    TornWrite(FaultChannel channel, BlockRequest faulted, int alignmentBytes, long seed) {
        super(channel, faulted, alignmentBytes);
        random = new SplittableRandom(seed);
    }

    void begin() {
        execute(BlockOperation.READ, staging(), 0);
    }

    @Override
    public void completed(Status ended) {
        if (ended != Status.SUCCESS || isRead) {
            faulted().complete(ended == Status.SUCCESS ? Status.IO_FAILED : ended);
            return;
        }
        isRead = true;
        Status copied = copySome();
        if (copied == Status.SUCCESS) {
            write();
        } else {
            faulted().complete(copied);
        }
    }

    private Status copySome() {
        Status copied = Status.SUCCESS;
        for (long at = 0;
                at < faulted().lengthBytes && copied == Status.SUCCESS;
                at += SECTOR_BYTES) {
            if (random.nextBoolean()) {
                copied = copy(at, SECTOR_BYTES);
            }
        }
        return copied;
    }
}
