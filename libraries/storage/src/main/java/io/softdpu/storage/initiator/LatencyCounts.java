package io.softdpu.storage.initiator;

import java.time.Duration;

/**
 * Numbers of operations by latency, in classes whose width is a sixteenth of their latency or less.
 * An immutable copy; any thread.
 */
public final class LatencyCounts {
    private final long[] counts;

    LatencyCounts(long[] counts) {
        this.counts = counts;
    }

    /** The operations since an earlier copy of the counts of the same initiator. */
    public LatencyCounts since(LatencyCounts earlier) {
        long[] difference = new long[counts.length];
        for (int i = 0; i < counts.length; i++) {
            difference[i] = counts[i] - earlier.counts[i];
        }
        return new LatencyCounts(difference);
    }

    /** Number of operations. */
    public long count() {
        long sum = 0;
        for (long count : counts) {
            sum += count;
        }
        return sum;
    }

    /**
     * A percentile, rounded up to the end of its class; zero without operations.
     *
     * @param percent above 0, 100 at most
     */
    public Duration percentile(double percent) {
        long count = count();
        long rank = Math.max(1, (long) Math.ceil(count * percent / 100));
        long seen = 0;
        for (int i = 0; i < counts.length && count > 0; i++) {
            seen += counts[i];
            if (seen >= rank) {
                return Duration.ofNanos(LiveLatencies.lastNanosOf(i));
            }
        }
        return Duration.ZERO;
    }
}
