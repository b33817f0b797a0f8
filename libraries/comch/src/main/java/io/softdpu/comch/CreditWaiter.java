package io.softdpu.comch;

/**
 * Wait of one producer for buffers of one consumer of the peer, from the submission that found none
 * until one is claimed. Its thread is that of the producer's engine, unless a method says
 * otherwise.
 */
final class CreditWaiter {
    /** Passes of progress after the report of a buffer in which the program may claim it. */
    private static final int PASSES_TO_CLAIM = 64;

    private enum State {
        /** The last submission, if any, has claimed a buffer. */
        IDLE,
        /** A submission has found no buffer. */
        WAITING,
        /** Progress has reported a buffer. */
        REPORTED,
        /** A sleep was refused too since the buffer can be claimed. */
        REPORTED_TWICE
    }

    /** The place in the {@link CreditQueue}; written by it, on the producer's thread. */
    volatile long place = CreditQueue.NO_PLACE;

    /** When a buffer was first seen to be kept for this place; 0 if not yet. Any thread. */
    volatile long keptSinceNanos;

    private final CreditQueue queue;
    private final Runnable wake;
    private State state = State.IDLE;
    private int passes;
    private volatile boolean asleep;

    /**
     * Creates the wait of a producer that does not wait yet.
     *
     * @param wake ends the sleep of the producer's engine; any thread
     */
    CreditWaiter(CreditQueue queue, Runnable wake) {
        this.queue = queue;
        this.wake = wake;
    }

    /** Whether the producer may claim a buffer now: none of those posted is kept for others. */
    boolean mayClaim() {
        return queue.mayClaim(this);
    }

    /** True if its producer may claim several buffers at once, since none is queued for one. */
    boolean mayClaimSeveral() {
        return queue.isEmpty();
    }

    /** A submission has found no buffer. */
    void begin() {
        state = State.WAITING;
        queue.enter(this);
    }

    /** A submission has claimed a buffer, or failed for another reason. */
    void end() {
        if (state != State.IDLE) {
            state = State.IDLE;
            queue.leave(this);
        }
    }

    boolean isWaiting() {
        return state != State.IDLE;
    }

    /**
     * Whether a buffer can be claimed that was not reported yet. A program that does not claim it
     * for a while loses its place, so that others do not wait for it.
     */
    boolean progress() {
        if (state == State.WAITING) {
            if (!mayClaim()) {
                return false;
            }
            state = State.REPORTED;
            passes = 0;
            return true;
        }
        if (++passes > PASSES_TO_CLAIM) {
            end();
        }
        return false;
    }

    /**
     * Requests a wake-up for the next buffer.
     *
     * @return true if there is one already: do not sleep
     */
    boolean arm() {
        return switch (state) {
            case WAITING -> {
                asleep = true;
                yield queue.arm(this);
            }
            case REPORTED -> { // programs may make passes until nothing is done, then send
                state = State.REPORTED_TWICE;
                yield true;
            }
            case IDLE, REPORTED_TWICE -> {
                end();
                yield false;
            }
        };
    }

    /** Whether it sleeps beside buffers that are kept for others, which may not claim them. */
    boolean isBehindOthers() {
        return state == State.WAITING && queue.isKeptForOthers(this);
    }

    /** Cancels {@link #arm}. */
    void disarm() {
        if (asleep) {
            asleep = false;
            queue.disarm();
        }
    }

    /** Ends the producer's sleep, if it sleeps. Any thread. */
    void wake() {
        if (asleep) {
            asleep = false;
            wake.run();
        }
    }
}
