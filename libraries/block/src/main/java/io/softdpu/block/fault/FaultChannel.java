package io.softdpu.block.fault;

import io.softdpu.block.fault.Dice.Subject;
import io.softdpu.block.fault.FaultOptions.Failure;
import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.BlockRequest;
import io.softdpu.block.spi.ProviderChannel;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.core.spi.FixedQueue;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Channel that decides the faults of each request at its submission. A request is held first, then
 * delayed, and then fails, suffers damage, or goes on to the channel below as it is.
 *
 * <p>A held or delayed request counts as begun, as one that the kernel has: it outlasts a stop of
 * the context.
 */
final class FaultChannel implements ProviderChannel {
    /** Time between two looks at the file that holds requests. */
    private static final long HOLD_NANOS = 10_000_000;

    /** Requests of an operation whose delay lasts, the oldest first. */
    private static final class Delayed {
        private final long delayNanos;
        private final FixedQueue<BlockRequest> requests;

        private Delayed(long delayNanos, int maxRequests) {
            this.delayNanos = delayNanos;
            requests = new FixedQueue<>(maxRequests);
        }
    }

    private final ProviderChannel below;
    private final FaultOptions options;
    private final FaultDevice device;
    private final int alignmentBytes;

    private final @Nullable Path holdFile;
    private final FixedQueue<BlockRequest> held;
    private final @Nullable EngineTimer holdTimer;

    private final Map<BlockOperation, Delayed> delayed = new EnumMap<>(BlockOperation.class);
    private final @Nullable EngineTimer delayTimer;

    /** Requests that have ended without the channel below, and their statuses. */
    private final FixedQueue<BlockRequest> ended;

    private final FixedQueue<Status> statuses;

    /** Requests for the channel below. */
    private final FixedQueue<BlockRequest> ready;

    /** Whether a timer has fired since the last look. */
    private boolean isTimeUp;

    /** Number of a request that was not accepted, for the next one; negative if there is none. */
    private long unused = -1;

    FaultChannel(
            ProviderChannel below, FaultDevice device, ContextServices services, int maxRequests) {
        this.below = below;
        this.device = device;
        options = device.options();
        alignmentBytes = device.properties().memoryAlignmentBytes();
        ended = new FixedQueue<>(maxRequests);
        statuses = new FixedQueue<>(maxRequests);
        ready = new FixedQueue<>(maxRequests);
        holdFile = options.hold();
        held = new FixedQueue<>(holdFile == null ? 0 : maxRequests);
        holdTimer = holdFile == null ? null : services.timer(() -> isTimeUp = true);
        for (BlockOperation operation : BlockOperation.values()) {
            long nanos = options.delayNanosOf(operation);
            if (nanos > 0) {
                delayed.put(operation, new Delayed(nanos, maxRequests));
            }
        }
        delayTimer = delayed.isEmpty() ? null : services.timer(() -> isTimeUp = true);
    }

    @Override
    public @Nullable Refusal submit(BlockRequest request) {
        long number = unused >= 0 ? unused : device.takeNumber();
        unused = -1;
        request.channelWord = number;
        if (holdFile != null && hold(request, holdFile)) {
            return null;
        }
        if (delay(request) || inject(request)) {
            return null;
        }
        Refusal refusal = below.submit(request);
        if (refusal != null) {
            unused = number;
        }
        return refusal;
    }

    // ---- held and delayed requests ----

    private boolean hold(BlockRequest request, Path file) {
        if (!Files.exists(file)) {
            releaseHeld();
            return false;
        }
        held.add(request);
        setHoldTimer();
        return true;
    }

    private void setHoldTimer() {
        if (holdTimer != null && !holdTimer.isSet()) {
            holdTimer.setAt(System.nanoTime() + HOLD_NANOS);
        }
    }

    private void releaseHeld() {
        while (!held.isEmpty()) {
            BlockRequest request = held.remove();
            if (!delay(request)) {
                pass(request);
            }
        }
    }

    private boolean delay(BlockRequest request) {
        Delayed queue = delayed.get(request.operation);
        if (queue == null) {
            return false;
        }
        request.doneBytes = System.nanoTime() + queue.delayNanos; // 0 again when it goes on
        queue.requests.add(request);
        setDelayTimer();
        return true;
    }

    /** Sets the timer to the first of the ends of all delays. */
    private void setDelayTimer() {
        long now = System.nanoTime();
        long first = Long.MAX_VALUE;
        for (Delayed queue : delayed.values()) {
            if (!queue.requests.isEmpty()) {
                first = Math.min(first, queue.requests.peek().doneBytes - now);
            }
        }
        if (delayTimer != null && first != Long.MAX_VALUE) {
            delayTimer.setAt(now + first);
        }
    }

    private void releaseDelayed() {
        long now = System.nanoTime();
        for (Delayed queue : delayed.values()) {
            while (!queue.requests.isEmpty() && queue.requests.peek().doneBytes - now <= 0) {
                BlockRequest request = queue.requests.remove();
                request.doneBytes = 0;
                pass(request);
            }
        }
        setDelayTimer();
    }

    private void look() {
        isTimeUp = false;
        if (holdFile != null && !held.isEmpty()) {
            if (Files.exists(holdFile)) {
                setHoldTimer();
            } else {
                releaseHeld();
            }
        }
        if (!delayed.isEmpty()) {
            releaseDelayed();
        }
    }

    private void pass(BlockRequest request) {
        if (!inject(request)) {
            ready.add(request);
        }
    }

    // ---- faults ----

    /** Injects the fault of a request, if it has one; whether it had. */
    private boolean inject(BlockRequest request) {
        long number = request.channelWord;
        Dice dice = device.dice();
        Failure failure = options.failureOf(request.operation);
        if (failure != null && dice.isHit(Subject.FAILURE, number, failure.rate())) {
            end(request, failure.status());
            return true;
        }
        return switch (request.operation) {
            case READ -> corruptRead(request, dice, number);
            case WRITE -> damageWrite(request, dice, number);
            case FLUSH, DISCARD, WRITE_ZEROES, EXTENTS -> false;
        };
    }

    private boolean corruptRead(BlockRequest request, Dice dice, long number) {
        if (!isCorrupt(request, dice, number)) {
            return false;
        }
        new CorruptRead(this, request, bitOf(request, dice, number)).begin();
        return true;
    }

    private boolean damageWrite(BlockRequest request, Dice dice, long number) {
        if (dice.isHit(Subject.TEAR, number, options.torn())) {
            new TornWrite(this, request, alignmentBytes, dice.bits(Subject.SECTORS, number))
                    .begin();
            return true;
        }
        if (!isCorrupt(request, dice, number)) {
            return false;
        }
        Status begun =
                new CorruptWrite(this, request, alignmentBytes, bitOf(request, dice, number))
                        .begin();
        if (begun != Status.SUCCESS) {
            end(request, begun);
        }
        return true;
    }

    private boolean isCorrupt(BlockRequest request, Dice dice, long number) {
        return dice.isHit(Subject.CORRUPTION, number, options.corruptionOf(request.operation));
    }

    private static long bitOf(BlockRequest request, Dice dice, long number) {
        return dice.below(Subject.BIT, number, request.lengthBytes * Byte.SIZE);
    }

    private void end(BlockRequest request, Status status) {
        ended.add(request);
        statuses.add(status);
    }

    /** Executes a request in place of one that suffers a fault. */
    void execute(BlockRequest request) {
        ready.add(request);
    }

    // ---- progress ----

    @Override
    public boolean progress() {
        boolean any = isTimeUp;
        if (isTimeUp) {
            look();
        }
        any |= completeEnded();
        any |= passReady();
        any |= below.progress();
        return any;
    }

    private boolean completeEnded() {
        int turns = ended.size(); // what a callback submits waits for the next pass
        boolean any = turns > 0;
        while (turns > 0) {
            turns--;
            BlockRequest request = ended.remove();
            request.complete(statuses.remove());
        }
        return any;
    }

    private boolean passReady() {
        int turns = ready.size();
        boolean any = false;
        while (turns > 0) {
            turns--;
            BlockRequest request = ready.peek();
            Refusal refusal = below.submit(request);
            if (refusal != null && refusal.status() == Status.AGAIN) {
                return any;
            }
            ready.remove();
            any = true;
            if (refusal != null) {
                request.complete(refusal.status());
            }
        }
        return any;
    }

    @Override
    public void ring() {
        below.ring();
    }

    @Override
    public boolean arm() {
        return below.arm() || isTimeUp || !ended.isEmpty() || !ready.isEmpty();
    }

    @Override
    public void disarm() {
        below.disarm();
    }

    @Override
    public boolean stop() {
        completeEnded();
        while (!ready.isEmpty()) {
            ready.remove().complete(Status.SHUTDOWN);
        }
        boolean isLeft = !below.stop(); // a torn write may go on from a read that ends here
        return !isLeft && ended.isEmpty() && ready.isEmpty() && held.isEmpty() && noneDelayed();
    }

    private boolean noneDelayed() {
        for (Delayed queue : delayed.values()) {
            if (!queue.requests.isEmpty()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() {
        if (holdTimer != null) {
            holdTimer.cancel();
        }
        if (delayTimer != null) {
            delayTimer.cancel();
        }
        below.close();
    }
}
