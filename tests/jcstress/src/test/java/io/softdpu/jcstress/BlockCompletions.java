package io.softdpu.jcstress;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.BlockRequest;
import io.softdpu.core.Status;

/** Requests of block devices that write down their completions, as the digits of a number. */
final class BlockCompletions {
    private int order;

    /** A request with this digit. */
    BlockRequest request(int digit) {
        return new BlockRequest(
                BlockOperation.FLUSH,
                new BlockRequest.Owner() {
                    @Override
                    public void completed(Status ended) {
                        order = order * 10 + digit;
                    }

                    @Override
                    public Status memoryStatus() {
                        return Status.SUCCESS;
                    }
                },
                null);
    }

    /** The digits in the order of the completions. */
    int order() {
        return order;
    }
}
