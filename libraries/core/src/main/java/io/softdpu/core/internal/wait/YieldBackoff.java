package io.softdpu.core.internal.wait;

/**
 * Number of waits that do not yield after a slow yield without work: doubles with each, up to a
 * limit, and is halved by many yields without work that are not slow. Beside a lasting competitor
 * few waits yield; among others a slow yield costs a sleep or two. Belongs to the thread that
 * waits.
 */
final class YieldBackoff {
    /**
     * Limit of the waits without a yield; the next one tries whether the competitor is gone.
     * Without such waits one competing thread makes the pipeline 50 to 500 times slower.
     */
    static final int MOST_WAITS = 256;

    /**
     * Yields that halve the number. Pollers of a pipeline that are alone on two processors have
     * several thousand of them for each slow one, beside a competitor about a thousand.
     */
    static final int HALVING_YIELDS = 2048;

    private int waits = 1;
    private int left;
    private int otherYields;

    /** Records a yield without work. */
    void yielded(boolean slow) {
        if (slow) {
            left = waits;
            waits = Math.min(2 * waits, MOST_WAITS);
            otherYields = 0;
        } else if (++otherYields == HALVING_YIELDS) {
            waits = Math.max(waits / 2, 1);
            otherYields = 0;
        }
    }

    /** Number of waits without a yield that the next slow yield causes. */
    int waits() {
        return waits;
    }

    /** Whether this wait sleeps without a yield; counts down the waits that do. */
    boolean skipsYields() {
        if (left == 0) {
            return false;
        }
        left--;
        return true;
    }
}
