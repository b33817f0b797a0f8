package io.softdpu.perf.child;

import com.sun.management.ThreadMXBean;
import io.softdpu.linux.ProcessTime;
import java.lang.management.ManagementFactory;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Resource use of a process since its start, as a line on its standard output for its parent: on
 * request, or unasked at the boundaries of its own phases.
 *
 * @param nanos when: {@link System#nanoTime()} of that process
 * @param cpuNanos processor time of all its threads
 * @param allocatedBytes heap that all its threads have allocated
 */
public record ResourceUse(long nanos, long cpuNanos, long allocatedBytes) {
    private static final Pattern FORM =
            Pattern.compile(
                    "resources: nanos=(-?\\d{1,18}), cpuNanos=(\\d{1,18}),"
                            + " allocatedBytes=(\\d{1,18})");

    /** Found once: the search allocates. */
    private static final ThreadMXBean THREADS =
            ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

    /** The resource use of this process. */
    public static ResourceUse now() {
        return new ResourceUse(
                System.nanoTime(), ProcessTime.nanos(), THREADS.getTotalThreadAllocatedBytes());
    }

    /** The resource use between an earlier moment and this one. */
    public ResourceUse since(ResourceUse earlier) {
        return new ResourceUse(
                nanos - earlier.nanos,
                cpuNanos - earlier.cpuNanos,
                allocatedBytes - earlier.allocatedBytes);
    }

    /** Processors used, of this difference: 1.0 is one of them all the time; 0 in no time. */
    public double processors() {
        return nanos == 0 ? 0 : (double) cpuNanos / nanos;
    }

    /** Reads a line; empty if it is none of these. */
    public static Optional<ResourceUse> parse(String line) {
        Matcher matcher = FORM.matcher(line);
        return matcher.matches()
                ? Optional.of(
                        new ResourceUse(
                                Long.parseLong(matcher.group(1)),
                                Long.parseLong(matcher.group(2)),
                                Long.parseLong(matcher.group(3))))
                : Optional.empty();
    }

    /** The line. */
    @Override
    public String toString() {
        // Not formatted, since formatting allocates while allocations are counted.
        return "resources: nanos="
                + nanos
                + ", cpuNanos="
                + cpuNanos
                + ", allocatedBytes="
                + allocatedBytes;
    }
}
