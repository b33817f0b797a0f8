package io.softdpu.cli;

import io.softdpu.cli.card.NetworkOptions;
import io.softdpu.cli.options.SecondsConverter;
import io.softdpu.core.DpuException;
import io.softdpu.perf.pair.PerfCpus;
import io.softdpu.perf.pair.PerfPlan;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/**
 * Options of a measurement, for the command of the user and for its DPU process.
 *
 * @param <P> the plan
 */
abstract class PlanOptions<P extends PerfPlan> {
    @Option(
            names = "--seconds",
            paramLabel = "SECONDS",
            converter = SecondsConverter.class,
            defaultValue = "2",
            description =
                    "Duration of the measurement, and of each warm-up before it: one, or up to"
                            + " four while the JIT compiles (default: ${DEFAULT-VALUE}).")
    private @Nullable Duration seconds;

    /** The value of {@code --cpu}; null for {@code any}. */
    record CpuPair(@Nullable PerfCpus pinned) {}

    /**
     * Makes the plan.
     *
     * @param nanos duration of a run
     * @throws DpuException INVALID_VALUE for values that make none
     */
    abstract P make(long nanos);

    /**
     * Makes what the plan says beyond the measurement that of this process, until it is closed.
     *
     * @param isDpu whether it is the process that the user's has started
     */
    NetworkOptions.Use use(P plan, boolean isDpu) {
        return NetworkOptions.Use.NONE;
    }

    /** The plan; values that make none are refused as picocli refuses those of a wrong form. */
    final P plan(CommandLine command) {
        try {
            return make(Objects.requireNonNull(seconds, "has a default").toNanos());
        } catch (DpuException e) {
            throw new ParameterException(command, String.valueOf(e.getMessage()), e);
        }
    }
}
