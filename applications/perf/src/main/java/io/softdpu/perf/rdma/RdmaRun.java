package io.softdpu.perf.rdma;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The DPU's part of a run, in one line on its standard output.
 *
 * @param received operations that have completed a receive or were found in memory
 * @param value of the eight bytes that atomic operations change
 */
record RdmaRun(long received, long value) {
    private static final Pattern FORM =
            Pattern.compile("run: received=(\\d{1,18}), value=(\\d{1,18})");

    /** Reads a line; empty if it is none of these. */
    static Optional<RdmaRun> parse(String line) {
        Matcher matcher = FORM.matcher(line);
        return matcher.matches()
                ? Optional.of(
                        new RdmaRun(
                                Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2))))
                : Optional.empty();
    }

    /** The line. */
    @Override
    public String toString() {
        // Not formatted, since formatting allocates while allocations are counted.
        return "run: received=" + received + ", value=" + value;
    }
}
