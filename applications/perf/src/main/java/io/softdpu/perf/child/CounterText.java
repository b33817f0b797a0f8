package io.softdpu.perf.child;

import io.softdpu.storage.RdmaCounters;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Counters of an RDMA provider as a word of a line between processes: those of connections, a
 * slash, and those of the device, as {@code packets_sent:1,naks:0/packets_sent:1}.
 */
public final class CounterText {
    /** The words. */
    public static final String FORM = "[a-z0-9_:,]*/[a-z0-9_:,]*";

    private static final Pattern COUNT = Pattern.compile("[a-z][a-z0-9_]{0,63}:\\d{1,18}");
    private static final int MAX_COUNTS = 256;

    private CounterText() {}

    /** The word. */
    public static String of(RdmaCounters counters) {
        return text(counters.connections()) + "/" + text(counters.device());
    }

    private static String text(SequencedMap<String, Long> counts) {
        return counts.entrySet().stream()
                .map(each -> each.getKey() + ":" + each.getValue())
                .collect(Collectors.joining(","));
    }

    /** Reads a word; empty if it is none. */
    public static Optional<RdmaCounters> parse(String word) {
        int slash = word.indexOf('/');
        if (slash < 0) {
            return Optional.empty();
        }
        Optional<SequencedMap<String, Long>> connections = counts(word.substring(0, slash));
        Optional<SequencedMap<String, Long>> device = counts(word.substring(slash + 1));
        return connections.isEmpty() || device.isEmpty()
                ? Optional.empty()
                : Optional.of(new RdmaCounters(connections.get(), device.get()));
    }

    private static Optional<SequencedMap<String, Long>> counts(String text) {
        SequencedMap<String, Long> counts = new LinkedHashMap<>();
        if (text.isEmpty()) {
            return Optional.of(counts);
        }
        for (String each : text.split(",", MAX_COUNTS + 1)) {
            if (counts.size() == MAX_COUNTS || !COUNT.matcher(each).matches()) {
                return Optional.empty();
            }
            int colon = each.indexOf(':');
            counts.put(each.substring(0, colon), Long.parseLong(each.substring(colon + 1)));
        }
        return Optional.of(counts);
    }
}
