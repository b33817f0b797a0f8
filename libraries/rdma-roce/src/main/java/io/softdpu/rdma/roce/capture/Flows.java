package io.softdpu.rdma.roce.capture;

import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Flows of a capture, at most {@link #MAX_FLOWS}. Packets name the receiver's queue pair alone, so
 * the two directions of a connection are found by the messages that made it, or by the first answer
 * whose number only one flow in the other direction has requested.
 */
final class Flows {
    static final int MAX_FLOWS = 4096;

    /** Limit of requests of connections whose replies are awaited. */
    private static final int MAX_REQUESTS = 1024;

    private final Map<Key, Flow> byKey = new HashMap<>();
    private final List<Flow> all = new ArrayList<>();
    private final Map<Request, CmMessage.Req> requests =
            new LinkedHashMap<>() {
                @Override
                protected boolean removeEldestEntry(Map.Entry<Request, CmMessage.Req> eldest) {
                    return size() > MAX_REQUESTS;
                }
            };

    private record Key(String from, String to, int queuePair) {}

    private record Request(String from, String to, int localId) {}

    /** Follows a packet of a connection. */
    @Nullable Note add(String from, String to, Packet packet) {
        Flow flow = flow(from, to, packet.queuePair());
        if (flow == null) {
            return null; // beyond the limit
        }
        if (flow.reverse() == null && packet.opcode().role() == Opcode.Role.RESPONSE) {
            joinRequester(flow, packet.psn());
        }
        return flow.add(packet);
    }

    private @Nullable Flow flow(String from, String to, int queuePair) {
        Key key = new Key(from, to, queuePair);
        Flow flow = byKey.get(key);
        return flow == null && all.size() < MAX_FLOWS ? newFlow(key) : flow;
    }

    private Flow newFlow(Key key) {
        Flow flow = new Flow(key.from, key.to, key.queuePair);
        byKey.put(key, flow);
        all.add(flow);
        return flow;
    }

    private void joinRequester(Flow answers, int psn) {
        Flow found = null;
        for (Flow flow : all) {
            boolean opposite = flow.from().equals(answers.to()) && flow.to().equals(answers.from());
            if (opposite && flow.reverse() == null && flow.mayHaveRequested(psn)) {
                if (found != null) {
                    return; // a later answer may tell
                }
                found = flow;
            }
        }
        if (found != null && found != answers) {
            found.join(answers);
        }
    }

    /** Follows a connection message. */
    void add(String from, String to, CmMessage message) {
        switch (message) {
            case CmMessage.Req req -> requests.put(new Request(from, to, req.localId()), req);
            case CmMessage.Rep rep -> {
                CmMessage.Req req = requests.remove(new Request(to, from, rep.remoteId()));
                if (req != null && all.size() + 2 <= MAX_FLOWS) {
                    connect(from, to, req, rep);
                }
            }
            default -> {} // of a connection that is there
        }
    }

    /**
     * Begins new flows: the numbers of the queue pairs may have been those of earlier ones. Those
     * without packets are begun again, since REQ and REP may be repeated.
     */
    private void connect(String from, String to, CmMessage.Req req, CmMessage.Rep rep) {
        Key forward = new Key(to, from, rep.queuePair());
        Key back = new Key(from, to, req.queuePair());
        Flow requester = unused(forward);
        Flow replier = unused(back);
        if (requester == null || replier == null) {
            requester = newFlow(forward);
            replier = newFlow(back);
        }
        requester.startAt(rep.startingPsn()); // each states the number of the other's packets
        replier.startAt(req.startingPsn());
        requester.join(replier);
    }

    private @Nullable Flow unused(Key key) {
        Flow flow = byKey.get(key);
        return flow == null || flow.packets() > 0 ? null : flow;
    }

    /** All flows, in the order of their first packets. */
    List<Flow> all() {
        return List.copyOf(all);
    }
}
