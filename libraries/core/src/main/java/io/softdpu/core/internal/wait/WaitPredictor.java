package io.softdpu.core.internal.wait;

/**
 * Prediction of the next wait from recent ones: for each pattern of short and long waits, how many
 * long ones in a row have followed it. Belongs to the thread that waits.
 */
final class WaitPredictor {
    /**
     * A wait that ended within this time was a short one, which yielding is for. Twice the time of
     * yielding, since a peer that had gone to sleep took 40 to 50 microseconds to wake up: were
     * such waits called long, two that sleep would keep each other from ever yielding again.
     */
    static final long SHORT_WAIT_NANOS = 2 * AdaptiveWait.YIELD_NANOS;

    /**
     * Length of a pattern. A relay waits for its target and then for its client, a short wait and a
     * long one by turns; four distinguish such patterns, also with a message or two in between.
     * Without it yielding cost service and target 14 % of a processor with one request every 2 ms,
     * with it 9 %.
     */
    private static final int PATTERN_WAITS = 4;

    /**
     * Long waits in a row after the same pattern that predict another one. With two, waits that
     * were long by chance (another thread had the processor) made a pipeline with 32 requests in
     * flight 12 % slower.
     */
    private static final byte LONG_IN_A_ROW = 8;

    /** The last waits, a bit each, the newest lowest: 1 for a short one. */
    private int pattern = (1 << PATTERN_WAITS) - 1;

    /** For each pattern: long waits in a row that followed it. */
    private final byte[] longWaits = new byte[1 << PATTERN_WAITS];

    /** Whether the next wait is expected to be long, so that yielding would not help. */
    boolean expectsLongWait() {
        return longWaits[pattern] >= LONG_IN_A_ROW;
    }

    /** Records a wait that ended with work. */
    void ended(long waitedNanos) {
        boolean wasShort = waitedNanos < SHORT_WAIT_NANOS;
        int inARow = wasShort ? 0 : Math.min(longWaits[pattern] + 1, LONG_IN_A_ROW);
        longWaits[pattern] = (byte) inARow;
        int newest = wasShort ? 1 : 0;
        pattern = (pattern << 1 | newest) & longWaits.length - 1;
    }
}
