package io.softdpu.block.fault;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.BlockRequest;
import io.softdpu.block.spi.ProviderChannel;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.core.spi.FixedQueue;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Channel of a device with a volatile cache. It executes the oldest of its requests while it has
 * its turn: by steps, requests of its own to the channel below, one after the other.
 */
final class VolatileChannel implements ProviderChannel, BlockRequest.Owner {
    /** State of the step of the request that is executed. */
    private enum Step {
        /** No request is executed. */
        NONE,
        TO_SUBMIT,
        IN_FLIGHT,
        ENDED
    }

    private final VolatileDevice device;
    private final ProviderChannel below;
    private final ContextServices services;
    private final Copier copier;
    private final MemorySegment cache;
    private final int blockBytes;
    private final int maxBlocks;
    private final FixedQueue<BlockRequest> requests;

    private final BlockRequest read = new BlockRequest(BlockOperation.READ, this, null);
    private final BlockRequest write = new BlockRequest(BlockOperation.WRITE, this, null);
    private final BlockRequest flush = new BlockRequest(BlockOperation.FLUSH, this, null);

    private Step step = Step.NONE;

    /** The request that is executed, unless there is none. */
    private @Nullable BlockRequest current;

    /** The request of the step. */
    private BlockRequest ofStep = flush;

    /** How the step has ended. */
    private Status result = Status.SUCCESS;

    /** Whether a write without FUA is still to write out a block. */
    private boolean writesOut;

    /**
     * Creates a channel.
     *
     * @param below has room for one request
     */
    VolatileChannel(
            VolatileDevice device,
            ProviderChannel below,
            ContextServices services,
            int maxRequests) {
        this.device = device;
        this.below = below;
        this.services = services;
        copier = services.copier();
        cache = device.cache();
        blockBytes = device.properties().blockSizeBytes();
        maxBlocks = (int) (device.properties().preferredRequestBytes() / blockBytes);
        requests = new FixedQueue<>(maxRequests);
        read.memory = cache;
        write.memory = cache;
    }

    @Override
    public @Nullable Refusal submit(BlockRequest request) {
        requests.add(request);
        return null;
    }

    /** Ends the sleep of the engine, since the channel has its turn. Any thread. */
    void wake() {
        services.wake();
    }

    // ---- progress ----

    /**
     * Goes on as long as the channel below does something: steps that end at once keep the turn
     * within one pass, and no other context waits for the engine of this one.
     */
    @Override
    public boolean progress() {
        boolean any = false;
        int left = requests.size(); // what a callback submits waits for the next pass
        boolean moved;
        do {
            moved = below.progress();
            if (step != Step.NONE) {
                moved |= advance();
            } else if (left > 0) {
                left--;
                moved |= advance();
            }
            any |= moved;
        } while (moved);
        return any;
    }

    /** Does what can be done next; whether there was anything. */
    private boolean advance() {
        return switch (step) {
            case NONE -> begin();
            case TO_SUBMIT -> submitStep();
            case IN_FLIGHT -> false;
            case ENDED -> {
                endUnless(stepEnded());
                yield true;
            }
        };
    }

    private boolean begin() {
        if (!device.takeTurn(this)) {
            return false;
        }
        BlockRequest request = requests.remove();
        current = request;
        Status stored =
                switch (request.operation) {
                    case WRITE, WRITE_ZEROES -> store(request);
                    case READ, FLUSH, DISCARD, EXTENTS -> Status.SUCCESS;
                };
        endUnless(stored == Status.SUCCESS ? next() : stored);
        return true;
    }

    private boolean submitStep() {
        ofStep.doneBytes = 0;
        Refusal refusal = below.submit(ofStep);
        if (refusal == null) {
            step = Step.IN_FLIGHT;
            return true;
        }
        if (refusal.status() == Status.AGAIN) {
            return false;
        }
        completed(refusal.status());
        return true;
    }

    @Override
    public void completed(Status ended) {
        result = ended;
        step = Step.ENDED;
    }

    /** The memory of steps is that of the device. */
    @Override
    public Status memoryStatus() {
        return Status.SUCCESS;
    }

    private BlockRequest current() {
        BlockRequest request = current;
        if (request == null) {
            throw new IllegalStateException("no request is executed");
        }
        return request;
    }

    /** Ends the request with a status, and the turn; not if it is IN_PROGRESS. */
    private void endUnless(Status status) {
        if (status != Status.IN_PROGRESS) {
            BlockRequest request = current();
            current = null;
            step = Step.NONE;
            device.endTurn(this);
            request.complete(status);
        }
    }

    // ---- the request that is executed ----

    /** Puts the bytes of a write, or zeros, into the cache. */
    private Status store(BlockRequest request) {
        if (request.operation == BlockOperation.WRITE_ZEROES) {
            for (long at = 0; at < request.lengthBytes; at += Long.BYTES) {
                cache.set(ValueLayout.JAVA_LONG, request.offsetBytes + at, 0);
            }
        } else {
            Status copied = copy(request, true);
            if (copied != Status.SUCCESS) {
                return copied;
            }
        }
        device.cached().set(firstOf(request), endOf(request));
        device.dirty().set(firstOf(request), endOf(request));
        writesOut = !request.fua && device.writesOut();
        return Status.SUCCESS;
    }

    private Status copy(BlockRequest request, boolean toCache) {
        Status usable = request.memoryStatus();
        if (usable != Status.SUCCESS) {
            return usable;
        }
        long at = request.offsetBytes;
        try {
            if (toCache) {
                copier.payload(
                        request.memory, request.memoryOffsetBytes, cache, at, request.lengthBytes);
            } else {
                copier.payload(
                        cache, at, request.memory, request.memoryOffsetBytes, request.lengthBytes);
            }
            return Status.SUCCESS;
        } catch (IllegalStateException | InternalError e) {
            // The program has closed the memory, or has cut the file under it.
            return Status.IO_FAILED;
        }
    }

    /** Makes the next step; IN_PROGRESS if there is one, else the end of the request. */
    private Status next() {
        BlockRequest request = current();
        return switch (request.operation) {
            case READ -> nextOfRead(request);
            case WRITE, WRITE_ZEROES -> request.fua ? nextOfFua(request) : nextOfWrite();
            case FLUSH -> nextOfFlush();
            case DISCARD -> Status.SUCCESS; // any bytes are right until the next write
            case EXTENTS -> Status.NOT_SUPPORTED;
        };
    }

    private Status nextOfRead(BlockRequest request) {
        int first = device.cached().nextClearBit(firstOf(request));
        if (first >= endOf(request)) {
            return copy(request, false);
        }
        int found = device.cached().nextSetBit(first);
        return begin(read, first, found < 0 ? endOf(request) : Math.min(found, endOf(request)));
    }

    private Status nextOfFua(BlockRequest request) {
        int first = device.dirty().nextSetBit(firstOf(request));
        if (first < 0 || first >= endOf(request)) {
            return Status.SUCCESS;
        }
        write.fua = true;
        return begin(write, first, Math.min(device.dirty().nextClearBit(first), endOf(request)));
    }

    private Status nextOfWrite() {
        int block = writesOut ? device.anyDirty() : -1;
        if (block < 0) {
            return Status.SUCCESS;
        }
        writesOut = false;
        write.fua = false;
        return begin(write, block, block + 1);
    }

    /** The dirty blocks in a random order, too: a process may be killed between two of them. */
    private Status nextOfFlush() {
        int first = device.anyDirty();
        if (first >= 0) {
            write.fua = false;
            return begin(write, first, device.dirty().nextClearBit(first));
        }
        ofStep = flush;
        step = Step.TO_SUBMIT;
        return Status.IN_PROGRESS;
    }

    private Status begin(BlockRequest made, int first, int end) {
        made.offsetBytes = (long) first * blockBytes;
        made.lengthBytes = (long) Math.min(end - first, maxBlocks) * blockBytes;
        made.memoryOffsetBytes = made.offsetBytes;
        ofStep = made;
        step = Step.TO_SUBMIT;
        return Status.IN_PROGRESS;
    }

    /** Takes note of the step; IN_PROGRESS if there is a further one, else the end. */
    private Status stepEnded() {
        BlockRequest request = current();
        if (result != Status.SUCCESS) {
            // A block that was to be written out early is dirty still, and the next flush tells.
            boolean isEarly = ofStep.operation == BlockOperation.WRITE && !isDurable(request);
            return isEarly ? Status.SUCCESS : result;
        }
        return switch (ofStep.operation) {
            case READ -> {
                device.cached().set(firstOf(ofStep), endOf(ofStep));
                yield next();
            }
            case WRITE -> {
                device.dirty().clear(firstOf(ofStep), endOf(ofStep));
                yield next();
            }
            case FLUSH -> Status.SUCCESS;
            case DISCARD, WRITE_ZEROES, EXTENTS ->
                    throw new IllegalStateException("no step: " + ofStep.operation);
        };
    }

    private static boolean isDurable(BlockRequest request) {
        return request.fua || request.operation == BlockOperation.FLUSH;
    }

    private int firstOf(BlockRequest request) {
        return (int) (request.offsetBytes / blockBytes);
    }

    private int endOf(BlockRequest request) {
        return (int) ((request.offsetBytes + request.lengthBytes) / blockBytes);
    }

    // ---- sleep and end ----

    @Override
    public void ring() {
        below.ring();
    }

    @Override
    public boolean arm() {
        return below.arm()
                || switch (step) {
                    case NONE -> !requests.isEmpty() && device.takeTurn(this);
                    case TO_SUBMIT, ENDED -> true;
                    case IN_FLIGHT -> false;
                };
    }

    @Override
    public void disarm() {
        below.disarm();
    }

    @Override
    public boolean stop() {
        while (!requests.isEmpty()) {
            requests.remove().complete(Status.SHUTDOWN);
        }
        boolean isNoneBelow = below.stop();
        if (step == Step.NONE) {
            device.endTurn(this);
        } else if (step != Step.IN_FLIGHT) {
            Status ended = step == Step.ENDED ? stepEnded() : Status.SHUTDOWN;
            endUnless(ended == Status.IN_PROGRESS ? Status.SHUTDOWN : ended);
        }
        return isNoneBelow && step == Step.NONE;
    }

    @Override
    public void close() {
        below.close();
    }
}
