package io.softdpu.perf.pair;

import io.softdpu.perf.child.CounterText;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.storage.RdmaCounters;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The DPU's part of a run, for the host: one line, or one control message.
 *
 * @param operations those that it has done, received or answered
 * @param value what the measurement needs to know besides
 * @param latencies of the operations that it has timed; null if it has timed none
 * @param use what it has used in all
 * @param counters of its RDMA provider; none for another measurement
 */
public record PerfReport(
        long operations,
        long value,
        @Nullable Percentiles latencies,
        ResourceUse use,
        RdmaCounters counters) {
    private static final Pattern FORM =
            Pattern.compile(
                    "report: operations=(\\d{1,18}), value=(-?\\d{1,18}),"
                            + " latenciesNanos=(?:none|(\\d{1,18})/(\\d{1,18})/(\\d{1,18})"
                            + "/(\\d{1,18})),"
                            + "(?: counters=("
                            + CounterText.FORM
                            + "),)?"
                            + " (resources: .*)");

    /** A report without counters. */
    public PerfReport(
            long operations, long value, @Nullable Percentiles latencies, ResourceUse use) {
        this(operations, value, latencies, use, RdmaCounters.NONE);
    }

    /** A report without latencies. */
    public PerfReport(long operations, long value, ResourceUse use) {
        this(operations, value, null, use);
    }

    /** Reads a line; empty if it is none of these. */
    public static Optional<PerfReport> parse(String line) {
        Matcher matcher = FORM.matcher(line);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        Percentiles latencies =
                matcher.group(3) == null
                        ? null
                        : new Percentiles(
                                Long.parseLong(matcher.group(3)),
                                Long.parseLong(matcher.group(4)),
                                Long.parseLong(matcher.group(5)),
                                Long.parseLong(matcher.group(6)));
        Optional<RdmaCounters> counters =
                matcher.group(7) == null
                        ? Optional.of(RdmaCounters.NONE)
                        : CounterText.parse(matcher.group(7));
        return counters.flatMap(counted ->
                ResourceUse.parse(matcher.group(8))
                        .map(use ->
                                new PerfReport(
                                        Long.parseLong(matcher.group(1)),
                                        Long.parseLong(matcher.group(2)),
                                        latencies,
                                        use,
                                        counted)));
    }

    /** The line. */
    @Override
    public String toString() {
        // Not formatted, since formatting allocates while allocations are counted.
        return "report: operations="
                + operations
                + ", value="
                + value
                + ", latenciesNanos="
                + (latencies == null
                        ? "none"
                        : latencies.p50Nanos()
                                + "/"
                                + latencies.p99Nanos()
                                + "/"
                                + latencies.p999Nanos()
                                + "/"
                                + latencies.maxNanos())
                + (counters.isEmpty() ? "" : ", counters=" + CounterText.of(counters))
                + ", "
                + use;
    }
}
