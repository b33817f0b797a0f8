package io.softdpu.core.sync;

import io.softdpu.core.spi.Failures;
import io.softdpu.fabric.error.FabricException;
import java.util.ArrayList;
import java.util.List;

/**
 * Links whose doorbells end the sleep of one thread. A peer is {@linkplain Peer#hold() held} while
 * its link is listened to, so that its descriptor is not closed before. The sleeper's thread.
 */
final class SleeperLinks {
    private static final int UNUSED = -1;

    private final Sleeper sleeper;
    private final List<Peer> listened = new ArrayList<>();
    private int version = UNUSED;

    SleeperLinks(Sleeper sleeper) {
        this.sleeper = sleeper;
    }

    /** Whether it listens to the peers of this version. */
    boolean isOf(int current) {
        return version == current;
    }

    /** Whether it listens to the peers of any version. */
    boolean isUsed() {
        return version != UNUSED;
    }

    /**
     * Listens to these peers and to no others.
     *
     * @param peers the present ones
     * @param current their version
     * @param rung runs on the sleeper's thread after a doorbell
     * @throws io.softdpu.core.DpuException OPERATING_SYSTEM if the limit of epoll watches of this
     *     user is reached
     */
    void listenTo(Peer[] peers, int current, Runnable rung) {
        List<Peer> present = List.of(peers);
        for (int i = listened.size() - 1; i >= 0; i--) {
            if (!present.contains(listened.get(i))) {
                end(listened.remove(i));
            }
        }
        for (Peer peer : peers) {
            if (!listened.contains(peer) && peer.hold()) {
                listen(peer, rung);
            }
        }
        version = current;
    }

    private void listen(Peer peer, Runnable rung) {
        boolean added = false;
        try {
            sleeper.poller().add(peer.link(), rung);
            listened.add(peer);
            added = true;
        } catch (FabricException e) {
            throw Failures.of(e);
        } finally {
            if (!added) {
                peer.release();
            }
        }
    }

    /** Ends listening: no doorbell wakes a thread that waits for nothing. It may listen again. */
    void close() {
        for (int i = listened.size() - 1; i >= 0; i--) {
            end(listened.remove(i));
        }
        version = UNUSED;
    }

    private void end(Peer peer) {
        sleeper.poller().remove(peer.link());
        peer.release();
    }
}
