package io.softdpu.fabric.handshake;

import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** Connected clients that have not sent their request, in the order of arrival. Bus thread. */
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
     * Adds a client. Beyond the limit the oldest client of the process that has most of them is
     * dropped: a flood displaces only itself.
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

    /** Removes a client that has been replied to or has disconnected. */
    void remove(IncomingHandshake handshake) {
        handshakes.remove(handshake);
    }
}
