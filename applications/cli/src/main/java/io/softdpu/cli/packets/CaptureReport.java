package io.softdpu.cli.packets;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.roce.capture.Analysis;
import io.softdpu.rdma.roce.capture.Flow;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Results of a capture that was read to its end: totals, connections, and the first packets with a
 * note, so that it does not grow with the capture.
 */
public final class CaptureReport {
    /** Limit of the noted packets. */
    public static final int MAX_NOTED = 1000;

    private final ArrayNode noted = JsonNodeFactory.instance.arrayNode();

    /** An empty report. */
    public CaptureReport() {}

    /** Keeps the line of a packet with a note, up to the limit. */
    public void addNoted(Analysis packet, String line) {
        if (noted.size() < MAX_NOTED) {
            noted.addObject().put("number", packet.number()).put("text", line.strip());
        }
    }

    /** Lines on each connection, and one of totals. */
    public static List<String> lines(Analysis capture) {
        List<String> lines = new ArrayList<>();
        for (Pair pair : pairs(capture)) {
            lines.add(
                    Text.format(
                            "connection: a=%s, aQueuePair=%s, b=%s, bQueuePair=%s, packets=%d,"
                                    + " bytes=%d, retransmissions=%d, duplicates=%d, gaps=%d,"
                                    + " naks=%d, rnrNaks=%d",
                            pair.one.from(),
                            pair.other == null ? "unknown" : hex(pair.other.queuePair()),
                            pair.one.to(),
                            hex(pair.one.queuePair()),
                            pair.packets(),
                            pair.payloadBytes(),
                            pair.retransmissions(),
                            pair.duplicates(),
                            pair.gaps(),
                            pair.naks(),
                            pair.rnrNaks()));
        }
        lines.add(
                Text.format(
                        "summary: packets=%d, badIcrc=%d, malformed=%d, connectionMessages=%d,"
                                + " otherFrames=%d",
                        capture.packets(),
                        capture.badIcrc(),
                        capture.malformed(),
                        capture.connectionMessages(),
                        capture.otherFrames()));
        return lines;
    }

    /** The same as an object. */
    public ObjectNode toJson(Analysis capture) {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.put("packets", capture.packets())
                .put("bad_icrc", capture.badIcrc())
                .put("malformed", capture.malformed())
                .put("connection_messages", capture.connectionMessages())
                .put("other_frames", capture.otherFrames());
        ArrayNode connections = root.putArray("connections");
        for (Pair pair : pairs(capture)) {
            ObjectNode one = connections.addObject();
            one.put("a", pair.one.from());
            if (pair.other == null) {
                one.putNull("a_queue_pair");
            } else {
                one.put("a_queue_pair", pair.other.queuePair());
            }
            one.put("b", pair.one.to())
                    .put("b_queue_pair", pair.one.queuePair())
                    .put("packets", pair.packets())
                    .put("payload_bytes", pair.payloadBytes())
                    .put("retransmissions", pair.retransmissions())
                    .put("duplicates", pair.duplicates())
                    .put("gaps", pair.gaps())
                    .put("naks", pair.naks())
                    .put("rnr_naks", pair.rnrNaks());
        }
        root.set("noted_packets", noted);
        return root;
    }

    private static String hex(int queuePair) {
        return Text.format("0x%06x", queuePair);
    }

    /** Connections in the order of their first packets. */
    private static List<Pair> pairs(Analysis capture) {
        List<Pair> pairs = new ArrayList<>();
        Set<Flow> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Flow flow : capture.flows()) {
            Flow reverse = flow.reverse();
            if (seen.add(flow)) {
                if (reverse != null) {
                    seen.add(reverse);
                }
                pairs.add(new Pair(flow, reverse));
            }
        }
        return pairs;
    }

    /** A connection, from a to b and back. */
    private record Pair(Flow one, @Nullable Flow other) {
        private long packets() {
            return one.packets() + (other == null ? 0 : other.packets());
        }

        private long payloadBytes() {
            return one.payloadBytes() + (other == null ? 0 : other.payloadBytes());
        }

        private long retransmissions() {
            return one.retransmissions() + (other == null ? 0 : other.retransmissions());
        }

        private long duplicates() {
            return one.duplicates() + (other == null ? 0 : other.duplicates());
        }

        private long gaps() {
            return one.gaps() + (other == null ? 0 : other.gaps());
        }

        private long naks() {
            return one.negativeAcknowledgements()
                    + (other == null ? 0 : other.negativeAcknowledgements());
        }

        private long rnrNaks() {
            return one.notReady() + (other == null ? 0 : other.notReady());
        }
    }
}
