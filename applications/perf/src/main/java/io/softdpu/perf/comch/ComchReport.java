package io.softdpu.perf.comch;

import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.Percentiles;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Report of the DPU to the host at the end of a load, in one control message.
 *
 * @param received messages that it has received in all
 * @param atNanos when it had received the last of them: its {@link System#nanoTime()}
 * @param latencies of the messages since the last report; null if none was stamped
 * @param use what it has used in all
 */
record ComchReport(long received, long atNanos, @Nullable Percentiles latencies, ResourceUse use) {
    private static final Pattern FORM =
            Pattern.compile(
                    "report: received=(\\d{1,18}), atNanos=(-?\\d{1,18}),"
                            + " latenciesNanos=(?:none|(\\d{1,18})/(\\d{1,18})/(\\d{1,18})"
                            + "/(\\d{1,18})),"
                            + " (resources: .*)");

    /** Reads a message; empty if it is none of these. */
    static Optional<ComchReport> parse(String message) {
        Matcher matcher = FORM.matcher(message);
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
        return ResourceUse.parse(matcher.group(7))
                .map(use ->
                        new ComchReport(
                                Long.parseLong(matcher.group(1)),
                                Long.parseLong(matcher.group(2)),
                                latencies,
                                use));
    }

    /** The message. */
    @Override
    public String toString() {
        // Not formatted, since formatting allocates while allocations are counted.
        return "report: received="
                + received
                + ", atNanos="
                + atNanos
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
                + ", "
                + use;
    }
}
