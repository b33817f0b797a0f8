package io.softdpu.core.internal.wait;

/**
 * Short spin before a wait that one message from another processor is expected to end soon. Hits
 * earn credit, misses spend it, and without credit spinning is disabled for a while. Belongs to the
 * thread that waits.
 */
final class ShortSpin {
    /**
     * Number of polls. A poll takes 30 ns. A target with its own processor replies to a request of
     * 4 KiB in 1.3 microseconds, round trip included, one of ten in 1.7; a service that yields
     * instead of polling sees that 0.6 later. Twice as many polls gained nothing more.
     */
    static final int SHORT_SPIN_POLLS = 64;

    /** Cost of a miss, 2 microseconds, in units of what a hit saves. */
    static final int SPIN_MISS_COST = 4;

    /**
     * Upper bound of the credit: eight misses in a row disable spinning. With answers of a peer
     * that has its processor they do not come; with one processor for all each spin is a miss.
     */
    static final int MAX_SPIN_CREDIT = 8 * SPIN_MISS_COST;

    /**
     * Waits without a spin after the credit is used up: the cost of one more miss is small compared
     * to so many waits.
     */
    static final int DISABLED_WAITS = 1024;

    /**
     * One in this many waits does not spin if slow yields must be detected: they show an {@link
     * AffinityPolicy} that another thread runs on the processor.
     */
    static final int WAITS_PER_YIELD = 16;

    private final WaitPredictor predictor;
    private final boolean samplesYields;
    private int credit = MAX_SPIN_CREDIT;
    private int disabledWaits;
    private int waits;

    /**
     * Creates a spin with full credit.
     *
     * @param predictor informed of waits that a spin has ended
     * @param samplesYields whether slow yields must be detected
     */
    ShortSpin(WaitPredictor predictor, boolean samplesYields) {
        this.predictor = predictor;
        this.samplesYields = samplesYields;
    }

    /** Spins unless that is disabled; whether work was done. */
    boolean poll(Waitable waitable) {
        if (disabledWaits > 0) {
            disabledWaits--;
            return false;
        }
        if (samplesYields && ++waits % WAITS_PER_YIELD == 0) {
            return false;
        }
        if (waitable.progress()) {
            return true; // no wait: the first poll of any wait would have seen it
        }
        for (int i = 1; i < SHORT_SPIN_POLLS; i++) {
            Thread.onSpinWait();
            if (waitable.progress()) {
                credit = Math.min(credit + 1, MAX_SPIN_CREDIT);
                predictor.ended(0);
                return true;
            }
        }
        credit -= SPIN_MISS_COST;
        if (credit <= 0) {
            credit = SPIN_MISS_COST; // for one more spin
            disabledWaits = DISABLED_WAITS;
        }
        return false;
    }
}
