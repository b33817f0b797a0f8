package io.softdpu.cli;

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
        out.format(
                Locale.ROOT,
                "%s: payload bytes copied %d, message bytes copied %d%n",
                session.role(),
                session.payloadBytesCopied(),
                session.messageBytesCopied());
    }

    /** An initiator's phases. */
    static void print(InitiatorReport run, PrintWriter out) {
        for (PhaseReport phase : run.phases()) {
            out.format(
                    Locale.ROOT,
                    "phase %s%s:%n",
                    phase.name(),
                    phase.complete() ? "" : " (aborted)");
            out.format(Locale.ROOT, "  duration         %.6f s%n", phase.nanos() / 1e9);
            out.format(
                    Locale.ROOT,
                    "  operation count  %d of %d bytes, %d in flight, %d failed%n",
                    phase.operations(),
                    phase.ioSizeBytes(),
                    phase.transactions(),
                    phase.errors());
            out.format(Locale.ROOT, "  data rate        %.3f GiB/s%n", phase.gibPerSecond());
            out.format(Locale.ROOT, "  IO rate          %.6f MIOP/s%n", phase.iops() / 1e6);
            LatencySummary latency = phase.latency();
            out.format(
                    Locale.ROOT,
                    "  latency          min %.1f us, max %.1f us, mean %.1f us%n",
                    latency.minNanos() / 1e3,
                    latency.maxNanos() / 1e3,
                    latency.meanNanos() / 1e3);
            out.format(
                    Locale.ROOT,
                    "  percentiles      p50 %.1f us, p99 %.1f us, p99.9 %.1f us%n",
                    latency.p50Nanos() / 1e3,
                    latency.p99Nanos() / 1e3,
                    latency.p999Nanos() / 1e3);
            if (!phase.expectedSha256().isEmpty()) {
                out.format(Locale.ROOT, "  bytes verified   %d%n", phase.bytesVerified());
                out.format(Locale.ROOT, "  SHA-256          %s%n", phase.actualSha256());
            }
        }
    }
}
