package io.softdpu.core.internal.wait;

/**
 * Short spin before a wait that one message of another processor is expected to end soon. Hits earn
 * credit, misses spend it, and without credit waits go without it for a while. Belongs to the
 * thread that waits.
 */
final class ShortSpin {
    /**
     * Number of polls. A poll takes 30 ns. A target with a processor of its own answers a request
     * of 4 KiB, the way there and back included, in 1.3 microseconds, one of ten in 1.7; a service
     * that yields in place of polling sees that 0.6 later. With twice as many nothing more was
     * gained.
     */
    static final int SHORT_SPIN_POLLS = 64;

    /** Cost of a miss, 2 microseconds, in units of what a hit saves. */
    static final int SPIN_MISS_COST = 4;

    /**
     * Upper bound of the credit: eight misses in a row disable spinning. With answers of a peer
     * that has its processor they do not come; with one processor for all each spin is a miss.
     */
    static final int MAX_SPIN_CREDIT = 8 * SPIN_MISS_COST;

    /** Waits without a spin after the credit is used up: one more miss is lost among so many. */
    static final int DISABLED_WAITS = 1024;

    /**
     * Of so many waits one goes without a spin where slow yields have to be noticed: they show an
     * {@link AffinityPolicy} that another thread computes on the processor.
     */
    static final int WAITS_PER_YIELD = 16;

    private final WaitPredictor predictor;
    private final boolean samplesYields;
    private int credit = MAX_SPIN_CREDIT;
    private int disabledWaits;
    private int waits;

    /**
     * A spin with full credit.
     *
     * @param predictor learns of waits that a spin has ended
     * @param samplesYields whether slow yields have to be noticed
     */
    ShortSpin(WaitPredictor predictor, boolean samplesYields) {
        this.predictor = predictor;
        this.samplesYields = samplesYields;
    }

    /** Spins unless that is disabled just now; whether something was done. */
    boolean poll(Waitable waitable) {
        if (disabledWaits > 0) {
            disabledWaits--;
            return false;
        }
        if (samplesYields && ++waits % WAITS_PER_YIELD == 0) {
            return false;
        }
        if (waitable.progress()) {
            return true; // no wait: any other would have seen it, too
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
