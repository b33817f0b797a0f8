package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelLimits;
import io.softdpu.comch.wire.ConsumerAnnouncement;
import io.softdpu.comch.wire.MessageType;
import io.softdpu.fabric.ring.MessageRing;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Queue of a connection's control messages that wait for a slot of the ring to the peer.
 * Application messages leave some slots free for them, so they wait only for a peer that does not
 * progress, never for one with a full receive queue.
 *
 * <p>Bounded: the connection of a peer that sends requests and never reads the replies is closed.
 * Belongs to the thread of the connection's engine.
 */
final class ControlQueue {
    /** Reason for closing a connection whose queue is at its limit. */
    static final String NOT_READ = "control messages are not read";

    /** An announcement and an expiry per local consumer, and a reply per remote one. */
    private static final int LIMIT = 3 * ChannelLimits.MAX_CONSUMERS;

    private final ArrayDeque<Entry> waiting = new ArrayDeque<>();

    private record Entry(
            MessageType type, long word, @Nullable ConsumerAnnouncement announcement) {}

    /** Puts a message at the end; false if the queue is at its limit. */
    boolean offer(MessageType type, long word) {
        return offer(new Entry(type, word, null));
    }

    /** Puts an announcement at the end; false if the queue is at its limit. */
    boolean offer(long word, ConsumerAnnouncement announcement) {
        return offer(new Entry(MessageType.CONSUMER_NEW, word, announcement));
    }

    /** Puts the last message at the end; exempt from the limit. */
    void offerLast(MessageType type, long word) {
        waiting.add(new Entry(type, word, null));
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /**
     * Moves as many messages into the ring as it has free slots.
     *
     * @return whether something was moved
     */
    boolean drainTo(MessageRing.Producer ring) {
        boolean moved = false;
        while (!waiting.isEmpty()) {
            long slotOffset = ring.claim();
            if (slotOffset < 0) {
                break;
            }
            Entry next = waiting.remove();
            int length = 0;
            if (next.announcement != null) {
                next.announcement.encode(ring.segment(), slotOffset);
                length = ConsumerAnnouncement.WIRE_BYTES;
            }
            ring.commit(next.type.code(), length, next.word);
            moved = true;
        }
        return moved;
    }

    private boolean offer(Entry entry) {
        if (waiting.size() >= LIMIT) {
            return false;
        }
        waiting.add(entry);
        return true;
    }
}
