package io.softdpu.perf.result;

import io.softdpu.storage.RdmaCounters;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Counters of an RDMA provider as fields of JSON. */
public final class CounterFields {
    private CounterFields() {}

    /**
     * The object: {@code connections} and {@code device}, each with its counts by name.
     *
     * @param counters null if they are not known
     * @return null if nothing is counted
     */
    public static @Nullable JsonFields of(@Nullable RdmaCounters counters) {
        return counters == null || counters.isEmpty()
                ? null
                : new JsonFields()
                        .put("connections", fields(counters.connections()))
                        .put("device", fields(counters.device()));
    }

    private static JsonFields fields(Map<String, Long> counts) {
        JsonFields fields = new JsonFields();
        counts.forEach(fields::put);
        return fields;
    }
}
