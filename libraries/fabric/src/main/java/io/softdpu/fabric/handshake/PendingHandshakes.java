package io.softdpu.fabric.handshake;

import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** Clients that have connected and said nothing yet, in the order of their coming. Bus thread. */
final class PendingHandshakes {
    private final int limit;
    private final Set<IncomingHandshake> handshakes = new LinkedHashSet<>();

    /**
     * Creates an empty set.
     *
     * @param limit beyond that the oldest is dropped
     */
    PendingHandshakes(int limit) {
        this.limit = limit;
    }

    /**
     * Adds a client. Beyond the limit the oldest goes of the process that has most of them: a flood
     * drives out its own.
     */
    void add(IncomingHandshake handshake) {
        if (handshakes.size() >= limit) {
            Map<Integer, Integer> counts = new HashMap<>();
            handshakes.forEach(one -> counts.merge(one.peerPid(), 1, Integer::sum));
            int most = Collections.max(counts.values());
            for (IncomingHandshake oldest : handshakes) {
                if (counts.getOrDefault(oldest.peerPid(), 0) == most) {
                    oldest.evict();
                    break;
                }
            }
        }
        handshakes.add(handshake);
    }

    /** Removes a client that has been answered or has gone. */
    void remove(IncomingHandshake handshake) {
        handshakes.remove(handshake);
    }
}
