package io.softdpu.perf.storage;

import io.softdpu.linux.text.Text;
import io.softdpu.perf.text.Figures;
import io.softdpu.perf.text.TextTable;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.initiator.CoreReport;
import io.softdpu.storage.initiator.InitiatorReport;
import io.softdpu.storage.initiator.LatencySummary;
import io.softdpu.storage.initiator.PhaseReport;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The statistics of a storage program as text: those of DOCA's programs, for each data path thread
 * and in total, and percentiles.
 */
public final class StorageTable {
    /** Sentence on a term of the statistics, for the help of a command that prints them. */
    public static final String HELP =
            "The hit rate is the share of calls of the progress engine (PE) that found work.";

    /** Name of the phase that precedes a measurement. */
    public static final String WARM_UP = "warm-up";

    private static final String INDENTATION = "  ";
    private static final String NONE = "-";

    private StorageTable() {}

    /** The lines of a program's data path. */
    public static List<String> lines(SessionReport session) {
        List<String> lines = new ArrayList<>();
        lines.add(session.role() + ": data path:");
        addCores(lines, CoreFigures.of(session), CoreFigures.total(session));
        lines.add(
                Text.format(
                        "%s: payload bytes copied %d, message bytes copied %d",
                        session.role(),
                        session.payloadBytesCopied(),
                        session.messageBytesCopied()));
        if (!session.provider().isEmpty()) {
            lines.add(
                    Text.format(
                            "%s: RDMA provider %s, path MTU %d bytes",
                            session.role(), session.provider(), session.pathMtuBytes()));
        }
        if (session.nicPayloadBytesCopied() > 0) {
            lines.add(
                    session.role()
                            + ": payload bytes copied out of packets by the NIC "
                            + session.nicPayloadBytesCopied());
        }
        return lines;
    }

    /**
     * The lines of an initiator's phases.
     *
     * @param failed whether the session failed: phases without an operation are left out
     */
    public static List<String> lines(InitiatorReport run, boolean failed) {
        List<String> lines = new ArrayList<>();
        for (PhaseReport phase : run.phases()) {
            if (failed && phase.operations() == 0) {
                continue;
            }
            String name = phase.name() + (phase.complete() ? "" : " (aborted)");
            if (phase.name().equals(WARM_UP)) {
                lines.add(
                        Text.format(
                                "phase %s: %s operations in %s, not measured",
                                name,
                                Figures.count(phase.operations()),
                                Figures.seconds(phase.duration().toNanos())));
                continue;
            }
            lines.add(
                    Text.format(
                            "phase %s: operations of %d bytes, %d in flight%s:",
                            name,
                            phase.ioSizeBytes(),
                            phase.transactions(),
                            phase.cores().size() > 1 ? " on each core" : ""));
            addCores(
                    lines,
                    phase.cores().stream()
                            .map(core -> CoreFigures.of(core, phase.operation()))
                            .toList(),
                    CoreFigures.total(phase));
            addLatencies(lines, phase, "latency", CoreReport::latency, phase.latency());
            LatencySummary sinceDue = phase.latencySinceDue();
            if (sinceDue != null) {
                addLatencies(lines, phase, "since due", CoreReport::latencySinceDue, sinceDue);
            }
            if (!phase.expectedSha256().isEmpty()) {
                lines.add(INDENTATION + "bytes verified   " + phase.bytesVerified());
                lines.add(INDENTATION + "SHA-256          " + phase.actualSha256());
            }
        }
        return lines;
    }

    private static void addCores(List<String> lines, List<CoreFigures> cores, CoreFigures total) {
        TextTable table =
                TextTable.ofNumbers(
                        "core",
                        "cpu",
                        "duration",
                        "operations",
                        "reads",
                        "writes",
                        "failed",
                        "data rate",
                        "IO rate",
                        "PE hit rate",
                        "hits:misses",
                        "refused");
        cores.forEach(core -> add(table, core));
        if (cores.size() != 1) {
            add(table, total);
        }
        addIndented(lines, table);
    }

    private static void add(TextTable table, CoreFigures figures) {
        Double rate = figures.gigabytesPerSecond();
        table.add(
                figures.core(),
                figures.cpu(),
                Text.format("%.6f s", figures.duration().toNanos() / 1e9),
                Long.toString(figures.operations()),
                number(figures.reads()),
                number(figures.writes()),
                number(figures.errors()),
                rate == null ? NONE : Figures.gigabytesPerSecond(rate),
                Figures.number(figures.iops() / 1e6) + " MIOP/s",
                Text.format("%.1f %%", figures.hitRatePercent()),
                figures.progressHits() + ":" + figures.progressMisses(),
                Long.toString(figures.refusedSubmissions()));
    }

    private static String number(@Nullable Long value) {
        return value == null ? NONE : value.toString();
    }

    private static void addLatencies(
            List<String> lines,
            PhaseReport phase,
            String title,
            Function<CoreReport, @Nullable LatencySummary> ofCore,
            LatencySummary total) {
        TextTable table =
                TextTable.ofNumbers(title, "min", "mean", "p50", "p90", "p99", "p99.9", "max");
        if (phase.cores().size() > 1) {
            for (CoreReport core : phase.cores()) {
                LatencySummary summary = ofCore.apply(core);
                if (summary != null) {
                    add(table, "core " + core.index(), summary);
                }
            }
        }
        add(table, phase.cores().size() > 1 ? "total" : "", total);
        addIndented(lines, table);
    }

    private static void add(TextTable table, String name, LatencySummary latency) {
        table.add(
                name,
                Figures.time(latency.minNanos()),
                Figures.time(latency.meanNanos()),
                Figures.time(latency.p50Nanos()),
                Figures.time(latency.p90Nanos()),
                Figures.time(latency.p99Nanos()),
                Figures.time(latency.p999Nanos()),
                Figures.time(latency.maxNanos()));
    }

    private static void addIndented(List<String> lines, TextTable table) {
        table.lines().forEach(line -> lines.add(INDENTATION + line));
    }
}
