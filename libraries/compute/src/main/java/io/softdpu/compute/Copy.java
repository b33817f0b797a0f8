package io.softdpu.compute;

import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.BufLists;
import org.jspecify.annotations.Nullable;

/** Copy from a list of bufs to another. */
final class Copy extends BufOperation {
    private final DmaCapabilities limits;

    Copy(OperationOwner owner, DmaContext dma) {
        super(owner, dma.device());
        this.limits = dma.capabilities();
    }

    /**
     * Checks the two lists and marks them.
     *
     * @return null, or the reason of a refusal: nothing is marked then
     */
    @Nullable Refusal begin(Buf source, Buf destination) {
        long size = BufLists.dataLength(source);
        Refusal refusal = check(source, destination, size, size, limits.maxBufferBytes());
        return refusal == null
                ? accept(source, destination, limits.maxBufferListLength(), size, size, size)
                : refusal;
    }

    @Override
    long advance(Copier copier, long budgetBytes) {
        if (!areUsable()) {
            return FAILED;
        }
        long budget = Math.min(budgetBytes, leftBytes());
        long copied = 0;
        while (copied < budget) {
            if (!hasFrom() || !hasTo()) {
                return FAILED;
            }
            long piece = Math.min(Math.min(fromLeft(), toLeft()), budget - copied);
            if (piece > 0 && !copyPiece(copier, piece)) {
                return FAILED;
            }
            copied += piece;
        }
        processed(copied);
        return copied;
    }

    @Override
    String kind() {
        return "copy";
    }
}
