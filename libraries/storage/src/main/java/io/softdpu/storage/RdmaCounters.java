package io.softdpu.storage;

import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.LongBinaryOperator;

/**
 * Counters of an RDMA provider: numbers by name, in the provider's order.
 *
 * @param connections sums of {@link RdmaConnection#counters()}; empty for a provider that counts
 *     nothing
 * @param device {@link Rdma#deviceCounters()}, of all connections of the process
 */
public record RdmaCounters(
        SequencedMap<String, Long> connections, SequencedMap<String, Long> device) {
    /** No counters. */
    public static final RdmaCounters NONE =
            new RdmaCounters(new LinkedHashMap<>(), new LinkedHashMap<>());

    /** Takes copies. */
    public RdmaCounters {
        connections = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(connections));
        device = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(device));
    }

    /** Whether nothing is counted. */
    public boolean isEmpty() {
        return connections.isEmpty() && device.isEmpty();
    }

    /**
     * These and those of other connections at the same device: the counts of connections are added,
     * of the two snapshots of the device the later one has the higher counts.
     */
    public RdmaCounters with(RdmaCounters others) {
        SequencedMap<String, Long> sums = new LinkedHashMap<>(connections);
        addAll(others.connections, sums, Long::sum);
        SequencedMap<String, Long> latest = new LinkedHashMap<>(device);
        addAll(others.device, latest, Math::max);
        return new RdmaCounters(sums, latest);
    }

    private static void addAll(
            Map<String, Long> from, Map<String, Long> into, LongBinaryOperator merge) {
        from.forEach((name, count) -> into.merge(name, count, merge::applyAsLong));
    }
}
