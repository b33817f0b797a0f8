package io.softdpu.perf.pair;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.perf.result.JsonFields;
import io.softdpu.perf.text.Figures;
import io.softdpu.perf.text.TextTable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Content of a result for both its forms: columns for people, keys with their units for programs. A
 * figure of a run has both; without a run its keys are null, and it has no column. Belongs to one
 * thread.
 */
public final class PerfSheet {
    /** In a column instead of a value that was not measured. */
    private static final String NONE = "-";

    private final Map<String, String> cells = new LinkedHashMap<>();
    private final Map<String, String> units = new LinkedHashMap<>();
    private final JsonFields fields = new JsonFields();

    /** Adds a column, or fills the one that has been added; null for what was not measured. */
    public PerfSheet column(String head, @Nullable String cell) {
        cells.put(head, cell == null ? NONE : cell);
        return this;
    }

    /** Adds a key; see {@link JsonFields#put}. */
    public PerfSheet key(String key, @Nullable Object value) {
        fields.put(key, value);
        return this;
    }

    /** Adds a key that has a unit. */
    public PerfSheet key(String key, @Nullable Object value, String unit) {
        units.put(key, unit);
        return key(key, value);
    }

    /** Adds a column and a key of the same name. */
    public PerfSheet both(String name, @Nullable Object value) {
        return column(name, value == null ? null : value.toString()).key(name, value);
    }

    // ---- figures that several measurements have

    /**
     * Adds the rate of operations, and their number.
     *
     * @param key of the number; that of the rate ends in {@code _per_s}
     * @param unit of the rate
     */
    public PerfSheet rate(String head, String key, String unit, @Nullable PerfRun<?> run) {
        if (run != null) {
            column(head, Figures.perSecond(run.perSecond()));
        }
        return key(key, run == null ? null : run.operations())
                .key(key + "_per_s", run == null ? null : run.perSecond(), unit);
    }

    /** Adds the payload per second of operations of a size. */
    public PerfSheet dataRate(long sizeBytes, @Nullable PerfRun<?> run) {
        Double rate = run == null ? null : (Double) run.gigabytesPerSecond(sizeBytes);
        if (rate != null) {
            column("data rate", Figures.gigabytesPerSecond(rate));
        }
        return key("gb_per_s", rate, "10^9 bytes/s");
    }

    /** Adds percentiles and maximum. */
    public PerfSheet latencies(@Nullable PerfRun<?> run) {
        Percentiles found = run == null ? null : run.latencies();
        boolean shown = run != null;
        return time(shown ? "p50" : null, "p50_ns", found, Percentiles::p50Nanos)
                .time(shown ? "p99" : null, "p99_ns", found, Percentiles::p99Nanos)
                .time(shown ? "p99.9" : null, "p999_ns", found, Percentiles::p999Nanos)
                .time(shown ? "max" : null, "max_ns", found, Percentiles::maxNanos);
    }

    /**
     * Adds a time among latencies.
     *
     * @param head null for no column
     */
    public PerfSheet time(
            @Nullable String head,
            String key,
            @Nullable Percentiles latencies,
            Function<Percentiles, Long> time) {
        Long nanos = latencies == null ? null : time.apply(latencies);
        if (head != null) {
            column(head, nanos == null ? null : Figures.time(nanos.longValue()));
        }
        return key(key, nanos, "ns");
    }

    /**
     * Adds the heap that is allocated per operation.
     *
     * @param operation the word for one
     * @param unit of the key
     */
    public PerfSheet heap(String operation, String unit, @Nullable PerfRun<?> run) {
        OptionalDouble bytes =
                run == null ? OptionalDouble.empty() : run.allocatedBytesPerOperation();
        if (run != null) {
            column(
                    "heap",
                    bytes.isEmpty()
                            ? null
                            : Figures.number(bytes.getAsDouble()) + " B/" + operation);
        }
        return key("allocated_bytes_per_op", bytes, unit);
    }

    /** Adds the processors that both sides have used. */
    public PerfSheet cores(PerfRun<?> run) {
        JsonFields sides =
                new JsonFields()
                        .put("host", run.host().processors())
                        .put("dpu", run.dpu().processors());
        return column("cores used", Figures.number(run.processors()))
                .key("cores_used", sides, "processors");
    }

    /** Adds the round trips of a cache line, and their class, for programs. */
    public PerfSheet lineTimes(PerfRun<?> run) {
        LineTimes times = run.lineTimes();
        return key("line_before_ns", times == null ? null : times.beforeNanos(), "ns")
                .key("line_after_ns", times == null ? null : times.afterNanos(), "ns")
                .key("distance", times == null ? null : times.distance().word());
    }

    // ---- the forms

    /** The columns: a head and a row. */
    List<String> lines() {
        TextTable table = TextTable.ofNumbers(cells.keySet().toArray(String[]::new));
        table.add(cells.values().toArray(String[]::new));
        return table.lines();
    }

    /** The keys, to which later ones are added as well. */
    ObjectNode json() {
        return fields.node();
    }

    /** The unit of each key that has one. */
    Map<String, String> units() {
        return units;
    }
}
