package io.softdpu.perf.pair;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.execution.CpuBinding;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Processors to which the polling threads of a measurement are pinned.
 *
 * @param host of the host's thread
 * @param dpu of the DPU's thread
 */
public record PerfCpus(int host, int dpu) {
    /** The word for a measurement whose threads are not pinned. */
    public static final String ANY = "any";

    private static final Pattern FORM = Pattern.compile("(\\d{1,5}),(\\d{1,5})");

    /**
     * Parses {@code HOST,DPU}, two numbers of processors.
     *
     * @throws DpuException INVALID_VALUE if it is something else; NOT_FOUND if this process may not
     *     use one of them
     */
    public static PerfCpus of(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "not a pair of processors: cpu="
                            + text
                            + ", expected=HOST,DPU such as 0,1, or any");
        }
        PerfCpus pair =
                new PerfCpus(
                        Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
        CpuBinding.hard(pair.host).checkAvailable();
        CpuBinding.hard(pair.dpu).checkAvailable();
        return pair;
    }

    /**
     * Number of processors that the threads of both sides may use.
     *
     * @param cpus to which they are pinned; null if they are not
     * @param available number of those that this process may use
     */
    public static int processors(@Nullable PerfCpus cpus, int available) {
        if (cpus == null) {
            return available;
        }
        return cpus.isShared() ? 1 : 2;
    }

    /** Whether both sides share one processor. */
    public boolean isShared() {
        return host == dpu;
    }

    /** The processor of a side. */
    public int of(Side side) {
        return side == Side.HOST ? host : dpu;
    }

    /** The form that {@link #of(String)} parses. */
    @Override
    public String toString() {
        return host + "," + dpu;
    }
}
