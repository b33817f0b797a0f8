package io.softdpu.perf.pair;

import io.softdpu.perf.child.ResourceUse;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The DPU's part of a run, in one line on its standard output.
 *
 * @param operations those that it has done, received or answered
 * @param value what the measurement needs to know besides; 0 or more
 * @param use what it has used in all
 */
public record PerfReport(long operations, long value, ResourceUse use) {
    private static final Pattern FORM =
            Pattern.compile("run: operations=(\\d{1,18}), value=(\\d{1,18}), (resources: .*)");

    /** Reads a line; empty if it is none of these. */
    public static Optional<PerfReport> parse(String line) {
        Matcher matcher = FORM.matcher(line);
        return matcher.matches()
                ? ResourceUse.parse(matcher.group(3))
                        .map(use ->
                                new PerfReport(
                                        Long.parseLong(matcher.group(1)),
                                        Long.parseLong(matcher.group(2)),
                                        use))
                : Optional.empty();
    }

    /** The line. */
    @Override
    public String toString() {
        // Not formatted, since formatting allocates while allocations are counted.
        return "run: operations=" + operations + ", value=" + value + ", " + use;
    }
}
