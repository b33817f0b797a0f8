package io.softdpu.perf.pair;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.perf.result.MeasurementNotes;
import io.softdpu.perf.result.ResultHeader;
import io.softdpu.perf.text.TextStyle;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * Both forms of the results of one kind of measurement: a table for people, a JSON object for
 * programs. Subclasses say what is in them. Pure.
 *
 * @param <P> the plan
 * @param <X> figures of this kind of measurement alone
 */
public abstract class PerfForms<P extends PerfPlan, X> {
    /** The values of the plan, but for its time, its processors and its number of runs. */
    protected abstract void plan(PerfSheet sheet, P plan);

    /** The figures of a run. */
    protected abstract void figures(PerfSheet sheet, P plan, PerfRun<X> run);

    /** Adds lines below the table. */
    protected void addRemarks(List<String> lines, PerfResult<P, X> result) {}

    /** Whether there may be several runs, which are all listed for programs. */
    protected boolean isRepeated() {
        return false;
    }

    /**
     * The lines: a head and a row with the run of the median rate; below them remarks, the line
     * times, the warm-up, and notes on what makes the figures meaningless.
     */
    public final List<String> lines(PerfResult<P, X> result, TextStyle style) {
        PerfRun<X> run = result.median();
        PerfSheet sheet = new PerfSheet();
        plan(sheet, result.plan());
        figures(sheet, result.plan(), run);
        List<String> lines = new ArrayList<>(sheet.lines());
        addRemarks(lines, result);
        LineTimes times = run.lineTimes();
        if (times != null) {
            lines.add(times.toText());
            if (result.runs().size() > 1) {
                lines.add("cache line times of all runs: " + distances(result.runs()));
            }
        }
        lines.add("measured after one or more warm-ups of the same length in the same processes");
        if (run.allocatedBytesPerOperation().orElse(0) > 0) {
            MeasurementNotes.onHeap(run.operations()).ifPresent(lines::add);
        }
        result.notes().forEach(note -> lines.add(style.notable("note: " + note)));
        return lines;
    }

    /** How many runs were of each class: {@code 2 near, 1 far}. */
    private static <X> String distances(List<PerfRun<X>> runs) {
        Map<LineTimes.Distance, Long> counts =
                runs.stream()
                        .map(run -> Objects.requireNonNull(run.lineTimes(), "measured"))
                        .collect(
                                Collectors.groupingBy(
                                        LineTimes::distance,
                                        () -> new EnumMap<>(LineTimes.Distance.class),
                                        Collectors.counting()));
        return counts.entrySet().stream()
                .map(each -> each.getValue() + " " + each.getKey().word())
                .collect(Collectors.joining(", "));
    }

    /**
     * The object: the origin, the plan, the run with the median rate, all runs where there may be
     * several, and the notes.
     *
     * @param topology name of the card
     */
    public final ObjectNode json(PerfResult<P, X> result, ResultHeader header, String topology) {
        P plan = result.plan();
        PerfCpus cpus = plan.cpus();
        PerfSheet sheet = new PerfSheet();
        plan(sheet, plan);
        if (plan.isPinnable()) {
            sheet.key("cpu", cpus == null ? null : cpus.toString());
        }
        figures(sheet, plan, result.median());
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.set(ResultHeader.KEY, header.toJson(options(plan, topology), sheet.units()));
        root.setAll(sheet.json());
        if (isRepeated()) {
            ArrayNode runs = root.putArray("runs");
            for (PerfRun<X> run : result.runs()) {
                PerfSheet each = new PerfSheet();
                figures(each, plan, run);
                runs.add(each.json());
            }
        }
        result.notes().forEach(root.putArray("notes")::add);
        return root;
    }

    private ObjectNode options(P plan, String topology) {
        PerfCpus cpus = plan.cpus();
        PerfSheet sheet = new PerfSheet();
        plan(sheet, plan);
        if (isRepeated()) {
            sheet.key("repeat", plan.repeats());
        }
        if (plan.isPinnable()) {
            sheet.key("cpu", cpus == null ? PerfCpus.ANY : cpus.toString());
        }
        return sheet.key("topology", topology).json().put("seconds", plan.nanos() / 1e9);
    }
}
