package io.softdpu.cli;

import io.softdpu.perf.text.Figures;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.WorkerReport;
import io.softdpu.storage.initiator.InitiatorReport;
import io.softdpu.storage.initiator.LatencySummary;
import io.softdpu.storage.initiator.PhaseReport;
import java.io.PrintWriter;
import java.util.Locale;

/** Run-time statistics of a storage role: those of the DOCA programs, and percentiles. */
final class Statistics {
    /** Sentence on a term of the statistics, for the help of a command that prints them. */
    static final String HELP =
            "The hit rate is the share of calls of the progress engine (PE) that found work.";

    /** Name of the phase that precedes a measurement. */
    static final String WARM_UP = "warm-up";

    private Statistics() {}

    /** A role's cores: operations and hit rate. */
    static void print(SessionReport session, PrintWriter out) {
        for (WorkerReport worker : session.workers()) {
            out.format(
                    Locale.ROOT,
                    "%s: core %d (cpu %s): operation count %d, PE hit rate %.1f %% (%d:%d)%n",
                    session.role(),
                    worker.index(),
                    worker.cpu(),
                    worker.operations(),
                    worker.hitRatePercent(),
                    worker.progressHits(),
                    worker.progressMisses());
        }
        if (session.workers().size() > 1) {
            out.format(
                    Locale.ROOT,
                    "%s: total of %d cores: operation count %d, PE hit rate %.1f %% (%d:%d)%n",
                    session.role(),
                    session.workers().size(),
                    session.operations(),
                    session.hitRatePercent(),
                    session.progressHits(),
                    session.progressMisses());
        }
        out.format(
                Locale.ROOT,
                "%s: payload bytes copied %d, message bytes copied %d%n",
                session.role(),
                session.payloadBytesCopied(),
                session.messageBytesCopied());
    }

    /**
     * An initiator's phases.
     *
     * @param failed whether the session failed: phases without an operation are left out
     */
    static void print(InitiatorReport run, boolean failed, PrintWriter out) {
        for (PhaseReport phase : run.phases()) {
            if (failed && phase.operations() == 0) {
                continue;
            }
            if (phase.name().equals(WARM_UP)) {
                out.format(
                        Locale.ROOT,
                        "phase %s%s: %s operations in %s, not measured%n",
                        phase.name(),
                        phase.complete() ? "" : " (aborted)",
                        Figures.count(phase.operations()),
                        Figures.seconds(phase.duration().toNanos()));
                continue;
            }
            out.format(
                    Locale.ROOT,
                    "phase %s%s:%n",
                    phase.name(),
                    phase.complete() ? "" : " (aborted)");
            out.format(
                    Locale.ROOT, "  duration         %.6f s%n", phase.duration().toNanos() / 1e9);
            out.format(
                    Locale.ROOT,
                    "  operation count  %d of %d bytes, %d in flight, %d failed%n",
                    phase.operations(),
                    phase.ioSizeBytes(),
                    phase.transactions(),
                    phase.errors());
            out.format(
                    Locale.ROOT,
                    "  data rate        %s%n",
                    Figures.gigabytesPerSecond(phase.gigabytesPerSecond()));
            out.format(
                    Locale.ROOT,
                    "  IO rate          %s MIOP/s%n",
                    Figures.number(phase.iops() / 1e6));
            LatencySummary latency = phase.latency();
            out.format(
                    Locale.ROOT,
                    "  latency          min %s, max %s, mean %s%n",
                    Figures.time(latency.minNanos()),
                    Figures.time(latency.maxNanos()),
                    Figures.time(latency.meanNanos()));
            out.format(
                    Locale.ROOT,
                    "  percentiles      p50 %s, p99 %s, p99.9 %s%n",
                    Figures.time(latency.p50Nanos()),
                    Figures.time(latency.p99Nanos()),
                    Figures.time(latency.p999Nanos()));
            if (!phase.expectedSha256().isEmpty()) {
                out.format(Locale.ROOT, "  bytes verified   %d%n", phase.bytesVerified());
                out.format(Locale.ROOT, "  SHA-256          %s%n", phase.actualSha256());
            }
        }
    }
}
