package io.softdpu.cli;

import io.softdpu.cli.options.SizeConverter;
import io.softdpu.perf.comch.ComchMode;
import io.softdpu.perf.comch.ComchPlan;
import io.softdpu.perf.pair.PerfCpus;
import io.softdpu.perf.pair.PerfWait;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Options of a Comm Channel measurement, for the command of the user and for its DPU process. */
final class ComchPlanOptions extends PlanOptions<ComchPlan> {
    @Parameters(
            paramLabel = "latency|rate|bandwidth|control|idle",
            converter = ComchModeConverter.class,
            completionCandidates = ComchModeConverter.class,
            description = {
                "latency: round trips of one message at a time.",
                "rate: small messages one way, as many as the queues take.",
                "bandwidth: the same with large messages.",
                "control: round trips of one message of the basic path at a time, which needs"
                        + " neither producer nor consumer.",
                "idle: connections without messages, as many as --clients says. The clients"
                        + " connect one after the other, and again until the time is over; then"
                        + " both processes sleep on their event handles as long."
            })
    private @Nullable ComchMode mode;

    @Option(
            names = "--size",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description =
                    "Size of a message, 1 to 1536MiB, with control to 4080 (default: latency and"
                            + " control 64, rate 32, bandwidth 1MiB).")
    private @Nullable Long size;

    @Option(
            names = "--wait",
            paramLabel = "busy|adaptive|event",
            converter = PerfWaitConverter.class,
            completionCandidates = PerfWaitConverter.class,
            defaultValue = "adaptive",
            description = {
                "How both processes wait (default: ${DEFAULT-VALUE}).",
                "busy: always poll, by progress(). adaptive: poll for a while, then sleep, by"
                        + " await(). event: sleep at once, by requestNotification()."
            })
    private @Nullable PerfWait wait;

    @Option(
            names = "--window",
            paramLabel = "N",
            description = {
                "Buffers that the receiver has posted, 1 to 8192, with rate and bandwidth (default:"
                    + " 256; for large messages as many as fill 64MiB, at least 2, from 256MiB on"
                    + " 1). All messages of both processes may have 8GiB; the default is less where"
                    + " it exceeds that."
            })
    private @Nullable Integer window;

    @Option(
            names = "--producers",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "Producers of the host, 1 to 64, each on a thread of its own; with rate and"
                            + " bandwidth (default: ${DEFAULT-VALUE}).")
    private int producers;

    @Option(
            names = "--consumers",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "Consumers of the DPU, each on a thread of its own: 1, which all producers"
                            + " send to, or as many as producers, each of which sends to its own"
                            + " (default: ${DEFAULT-VALUE}).")
    private int consumers;

    @Option(
            names = "--clients",
            paramLabel = "N",
            description = "Clients that connect, 1 to 512; with idle, which needs it.")
    private @Nullable Integer clients;

    @Option(
            names = "--import",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description =
                    "The DPU imports so much memory of the host, at most 4GiB, and releases it,"
                            + " again and again during the measurement; with idle.")
    private @Nullable Long imported;

    @Option(
            names = "--stream",
            description =
                    "Each process has a stream (ComchStream), in place of a producer and a"
                            + " consumer; with one producer.")
    private boolean stream;

    @Option(
            names = "--repeat",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "Runs after the warm-ups, 1 to 1000; the one with the median rate is printed"
                        + " (of an even number the lower of the two in the middle), and the spread"
                        + " (default: ${DEFAULT-VALUE}).")
    private int repeats;

    @Option(
            names = "--cpu",
            paramLabel = "HOST,DPU|any",
            converter = PerfCpusConverter.class,
            defaultValue = PerfCpus.ANY,
            description = {
                "any leaves the threads to the scheduler (the default). HOST,DPU pins those of each"
                    + " process to a processor, and measures the round trip of a cache line between"
                    + " these before and after each run, with one consumer: near (at most 200 ns),"
                    + " far (at least 300 ns) or mixed. Figures compare only within one of these"
                    + " classes."
            })
    private @Nullable CpuPair cpus;

    @Override
    ComchPlan make(long nanos) {
        return ComchPlan.of(
                Objects.requireNonNull(mode, "required"),
                size,
                Objects.requireNonNull(wait, "has a default"),
                nanos,
                window,
                producers,
                consumers,
                stream,
                repeats,
                clients,
                imported == null ? 0 : imported,
                Objects.requireNonNull(cpus, "has a default").pinned());
    }
}
