package io.softdpu.perf.sync;

import io.softdpu.core.Side;
import io.softdpu.core.sync.SyncEventCapabilities;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.pair.PerfCpus;
import io.softdpu.perf.pair.PerfPlan;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One measurement of a sync event.
 *
 * @param mode kind of measurement
 * @param waiting how both sides wait; null with {@link SyncMode#RATE}, where nothing is waited for
 * @param paceNanos time from the begin of a round trip to that of the next; 0: at once
 * @param nanos how long the run takes, after warm-ups of the same length
 * @param cpus processors to which both sides are pinned; null if they are not
 */
public record SyncPlan(
        SyncMode mode,
        @Nullable SyncWait waiting,
        long paceNanos,
        long nanos,
        @Nullable PerfCpus cpus)
        implements PerfPlan {
    /** Checks the values: INVALID_VALUE that names the field. */
    public SyncPlan {
        PerfPlan.requireTime(nanos);
        boolean waits = mode == SyncMode.LATENCY;
        PerfPlan.require(
                waits || waiting == null,
                "only round trips wait: wait=%s, measurement=rate, expected=no way to wait",
                waiting == null ? "none" : waiting.word());
        PerfPlan.require(
                waits || paceNanos == 0,
                "only round trips have a pace: pace=%s, measurement=rate, expected=no pace",
                text(paceNanos));
        PerfPlan.require(
                !waits || waiting != null,
                "round trips need a way to wait: wait=none, measurement=latency, expected=busy,"
                        + " yield or event");
        PerfPlan.require(
                paceNanos >= 0 && paceNanos <= nanos,
                "pace is illegal: pace=%s, seconds=%s, expected=at most the time of the run",
                text(paceNanos),
                nanos / 1e9);
    }

    @Override
    public boolean isBusy() {
        return waiting == SyncWait.BUSY;
    }

    @Override
    public void requireSupported(ComchPair pair) {
        if (waiting == SyncWait.EVENT) {
            for (Side side : List.of(Side.HOST, Side.DPU)) {
                pair.requireSupported(side, SyncEventCapabilities.WAIT_TASKS_LIMIT, mode.word());
            }
        }
    }

    /** A time as the command line has it, in the largest unit of which it is a whole number. */
    private static String text(long nanos) {
        if (nanos % 1_000_000_000 == 0) {
            return nanos / 1_000_000_000 + "s";
        }
        if (nanos % 1_000_000 == 0) {
            return nanos / 1_000_000 + "ms";
        }
        return nanos % 1000 == 0 ? nanos / 1000 + "us" : nanos + "ns";
    }

    /** No cache line but that of the event is measured. */
    @Override
    public boolean isLineTimed() {
        return false;
    }
}
