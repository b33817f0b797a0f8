package io.softdpu.perf.sync;

import io.softdpu.perf.pair.StopSign;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The DPU's part of a run, in one line on its standard output.
 *
 * @param adds additions; 0 with {@link SyncMode#LATENCY}
 * @param nanos the time that it took
 */
record SyncRun(long adds, long nanos) {
    /** Reading the clock takes longer than an addition. */
    private static final int ADDS_PER_CHECK = 256;

    private static final Pattern FORM = Pattern.compile("run: adds=(\\d{1,18}), nanos=(\\d{1,18})");

    /** Reads a line; empty if it is none of these. */
    static Optional<SyncRun> parse(String line) {
        Matcher matcher = FORM.matcher(line);
        return matcher.matches()
                ? Optional.of(
                        new SyncRun(
                                Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2))))
                : Optional.empty();
    }

    /** The additions of this thread until the time is over. */
    static SyncRun adding(SyncHandle handle, long forNanos, StopSign stop) {
        long begin = System.nanoTime();
        long adds = 0;
        long nanos;
        do {
            for (int i = 0; i < ADDS_PER_CHECK; i++) {
                handle.increment();
            }
            adds += ADDS_PER_CHECK;
            stop.check();
            nanos = System.nanoTime() - begin;
        } while (nanos < forNanos);
        return new SyncRun(adds, nanos);
    }

    /** The line. */
    @Override
    public String toString() {
        // Not formatted, since formatting allocates while allocations are counted.
        return "run: adds=" + adds + ", nanos=" + nanos;
    }
}
