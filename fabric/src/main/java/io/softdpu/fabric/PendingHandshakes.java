package io.softdpu.fabric;

import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** Clients that have connected and said nothing yet, in the order of their coming. Bus thread. */
final class PendingHandshakes {
    /** Beyond that the oldest is dropped. */
    static final int LIMIT = 256;

    private final Set<IncomingHandshake> handshakes = new LinkedHashSet<>();

    /**
     * Adds a client. Beyond the limit the oldest goes of the process that has most of them: a flood
     * drives out its own.
     */
    void add(IncomingHandshake handshake) {
        if (handshakes.size() >= LIMIT) {
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
