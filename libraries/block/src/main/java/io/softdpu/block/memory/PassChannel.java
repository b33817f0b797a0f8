package io.softdpu.block.memory;

import io.softdpu.block.spi.BlockRequest;
import io.softdpu.block.spi.ProviderChannel;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.spi.FixedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Channel whose requests are executed in the passes of the engine, a slice in each, by turns: small
 * requests do not wait for a large one.
 */
abstract class PassChannel implements ProviderChannel {
    /** Number of bytes that a request counts with at least, so that many small ones end a pass. */
    private static final long MIN_COUNTED_BYTES = 256;

    private final FixedQueue<BlockRequest> requests;

    PassChannel(int maxRequests) {
        this.requests = new FixedQueue<>(maxRequests);
    }

    /**
     * Whether a request moves bytes; otherwise it succeeds without any.
     *
     * @return false for one that leaves blocks and memory as they are
     */
    abstract boolean movesBytes(BlockRequest request);

    /**
     * Moves the next bytes of a request.
     *
     * @param fromBytes what was done before
     */
    abstract void move(BlockRequest request, long fromBytes, long sizeBytes);

    @Override
    public final @Nullable Refusal submit(BlockRequest request) {
        requests.add(request);
        return null;
    }

    @Override
    public final boolean progress() {
        int turns = requests.size(); // what a callback submits waits for the next pass
        boolean any = turns > 0;
        long budgetBytes = Copier.SLICE_BYTES;
        while (turns > 0 && budgetBytes > 0) {
            turns--;
            BlockRequest request = requests.remove();
            long before = request.doneBytes;
            Status ended = advance(request, budgetBytes);
            budgetBytes -= Math.max(request.doneBytes - before, MIN_COUNTED_BYTES);
            if (ended == Status.IN_PROGRESS) {
                requests.add(request);
            } else {
                request.complete(ended);
            }
        }
        return any;
    }

    private Status advance(BlockRequest request, long budgetBytes) {
        if (!movesBytes(request)) {
            return Status.SUCCESS;
        }
        Status usable = request.memoryStatus();
        if (usable != Status.SUCCESS) {
            return usable;
        }
        long done = request.doneBytes;
        long sizeBytes = Math.min(budgetBytes, request.lengthBytes - done);
        try {
            move(request, done, sizeBytes);
        } catch (IllegalStateException | InternalError e) {
            // The program has closed the memory, or has cut the file under it.
            return Status.IO_FAILED;
        }
        request.doneBytes = done + sizeBytes;
        return request.doneBytes == request.lengthBytes ? Status.SUCCESS : Status.IN_PROGRESS;
    }

    @Override
    public final boolean arm() {
        return !requests.isEmpty();
    }

    @Override
    public final boolean stop() {
        while (!requests.isEmpty()) {
            requests.remove().complete(Status.SHUTDOWN);
        }
        return true;
    }

    @Override
    public final void close() {}
}
