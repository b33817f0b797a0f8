package io.softdpu.perf.pair;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import java.util.concurrent.TimeUnit;

/** Failure of a measurement whose other side is alive and does not answer in time. */
public final class InactivePeer {
    private InactivePeer() {}

    /**
     * The failure.
     *
     * @param peer the process or connection
     * @param awaited what it was to do
     */
    public static DpuException of(Object peer, String awaited, long waitedNanos) {
        return new DpuException(
                Status.TIME_OUT,
                Text.format(
                        "peer is inactive: peer=%s, awaited=%s, waitedMillis=%d, expected=a peer"
                                + " that gets processor time; end other programs, or measure with"
                                + " --wait event",
                        peer, awaited, TimeUnit.NANOSECONDS.toMillis(waitedNanos)));
    }
}
