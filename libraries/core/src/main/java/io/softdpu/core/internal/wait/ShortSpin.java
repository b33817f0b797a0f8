package io.softdpu.core.internal.wait;

import java.util.Arrays;

/**
 * Short spin before a wait, in the {@linkplain Waitable#situation situations} in which it succeeds:
 * a peer on another processor answers while this thread spins; one that shares the processor
 * cannot. In each situation hits earn credit, misses spend it, and without credit spinning is
 * disabled for a while. A relay of two peers thus spins while it waits for one and not for the
 * other. Belongs to the thread that waits.
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
     * Upper bound of the credit: 64 misses in a row disable spinning. With answers of a peer that
     * has its processor they do not come; with one processor for all each spin is a miss.
     */
    static final int MAX_SPIN_CREDIT = 64 * SPIN_MISS_COST;

    /**
     * Waits without a spin after the credit is used up: the cost of one more miss is small compared
     * to so many waits.
     */
    static final int DISABLED_WAITS = 1024;

    /**
     * Spins in a row after which a wait begins with a yield. At 32 requests in flight nearly every
     * spin of a relay succeeds while its initiator waits for the processor; and slow yields show an
     * {@link AffinityPolicy} that another thread runs there. With 7 each eighth wait of a target
     * that has its processor was a yield.
     */
    static final int SPINS_PER_YIELD = 63;

    private final int[] credit = new int[Waitable.SITUATIONS];
    private final int[] disabledWaits = new int[Waitable.SITUATIONS];
    private int spinsInRow;

    /** Creates a spin with full credit. */
    ShortSpin() {
        Arrays.fill(credit, MAX_SPIN_CREDIT);
    }

    /** Spins, after a poll without work, unless that is disabled; whether work was done. */
    boolean poll(Waitable waitable) {
        int situation = waitable.situation();
        if (disabledWaits[situation] > 0) {
            disabledWaits[situation]--;
            spinsInRow = 0;
            return false;
        }
        if (spinsInRow == SPINS_PER_YIELD) {
            spinsInRow = 0;
            return false;
        }
        for (int i = 1; i < SHORT_SPIN_POLLS; i++) {
            Thread.onSpinWait();
            if (waitable.progress()) {
                credit[situation] = Math.min(credit[situation] + 1, MAX_SPIN_CREDIT);
                spinsInRow++;
                return true;
            }
        }
        spinsInRow = 0;
        credit[situation] -= SPIN_MISS_COST;
        if (credit[situation] <= 0) {
            credit[situation] = SPIN_MISS_COST; // for one more spin
            disabledWaits[situation] = DISABLED_WAITS;
        }
        return false;
    }
}
