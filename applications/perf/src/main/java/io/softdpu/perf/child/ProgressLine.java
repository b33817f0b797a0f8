package io.softdpu.perf.child;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Progress of an initiator that has a plan, as a line on its standard output for its parent.
 *
 * @param phase the phase's name
 * @param finished true for the last line of a phase
 * @param operations operations so far in this phase
 * @param payloadBytes payload moved so far in this phase
 * @param elapsedNanos time so far in this phase
 */
public record ProgressLine(
        String phase, boolean finished, long operations, long payloadBytes, long elapsedNanos) {

    private static final Pattern FORM =
            Pattern.compile(
                    "phase: name=(\\w{1,40}), state=(running|finished), operations=(\\d{1,18}),"
                            + " payloadBytes=(\\d{1,18}), elapsedNanos=(\\d{1,18})");

    /** True at the begin or end of a phase. */
    public boolean isBoundary() {
        return finished || elapsedNanos == 0;
    }

    /** Reads a line; empty if it is none of these. */
    public static Optional<ProgressLine> parse(String line) {
        Matcher matcher = FORM.matcher(line);
        return matcher.matches()
                ? Optional.of(
                        new ProgressLine(
                                matcher.group(1),
                                matcher.group(2).equals("finished"),
                                Long.parseLong(matcher.group(3)),
                                Long.parseLong(matcher.group(4)),
                                Long.parseLong(matcher.group(5))))
                : Optional.empty();
    }

    /** The line. */
    @Override
    public String toString() {
        // Not formatted, since formatting allocates while allocations are counted.
        return "phase: name="
                + phase
                + ", state="
                + (finished ? "finished" : "running")
                + ", operations="
                + operations
                + ", payloadBytes="
                + payloadBytes
                + ", elapsedNanos="
                + elapsedNanos;
    }
}
