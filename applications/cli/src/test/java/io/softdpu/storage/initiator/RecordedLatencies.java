package io.softdpu.storage.initiator;

import java.time.Duration;

/** Latencies that a test records as an initiator does; the library records them itself. */
public final class RecordedLatencies {
    private final LiveLatencies live = new LiveLatencies();

    /** Counts a number of operations of this latency. */
    public void record(Duration latency, int operations) {
        for (int i = 0; i < operations; i++) {
            live.record(latency.toNanos());
        }
    }

    /** The latencies recorded so far. */
    public LatencyCounts counts() {
        long[] sums = LiveLatencies.newSums();
        live.addTo(sums);
        return new LatencyCounts(sums);
    }
}
