package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelLimits;
import io.softdpu.comch.wire.ConsumerAnnouncement;
import io.softdpu.comch.wire.ControlWord;
import io.softdpu.comch.wire.MessageType;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Consumers of this side of a connection, from their registration until their memory is released:
 * announced to the peer, which accepts or refuses them. Belongs to the thread of the connection's
 * engine.
 */
final class LocalConsumers {
    private final ComchConnection connection;
    private final ControlQueue control;
    private final Map<Integer, Entry> entries = new HashMap<>();
    private int lastId;
    private boolean closing;

    private static final class Entry {
        private final ConsumerQueue queue;
        private boolean answered;
        private boolean expired;

        private Entry(ConsumerQueue queue) {
            this.queue = queue;
        }
    }

    /**
     * Creates an empty list.
     *
     * @param lastId the first id minus two; ids rise by two
     */
    LocalConsumers(ComchConnection connection, ControlQueue control, int lastId) {
        this.connection = connection;
        this.control = control;
        this.lastId = lastId;
    }

    /**
     * Announces a consumer to the peer; false if there are too many.
     *
     * @param queue that of the consumer's current start: answers are for that start alone
     */
    boolean register(ConsumerQueue queue, ConsumerAnnouncement announcement) {
        int id = lastId + 2;
        if (entries.size() >= ChannelLimits.MAX_CONSUMERS
                || !control.offer(ControlWord.of(id), announcement)) {
            return false;
        }
        lastId = id;
        entries.put(id, new Entry(queue));
        queue.consumer().announced(queue, id);
        return true;
    }

    /** Notifies the peer that a consumer stops, so that it releases the consumer's memory. */
    void expire(ConsumerQueue queue) {
        for (Map.Entry<Integer, Entry> known : entries.entrySet()) {
            Entry entry = known.getValue();
            if (entry.queue == queue && !entry.expired) {
                entry.expired = true;
                if (!closing
                        && !control.offer(
                                MessageType.CONSUMER_EXPIRED, ControlWord.of(known.getKey()))) {
                    connection.protocolViolated(ControlQueue.NOT_READ);
                }
                return;
            }
        }
    }

    /** The consumer's memory was released: frees its entry. */
    void forget(ConsumerQueue queue) {
        entries.values().removeIf(entry -> entry.queue == queue);
    }

    /**
     * Handles the peer's reply to an announcement.
     *
     * @param refusal null if the peer has accepted
     * @return the violation in the message, or null
     */
    @Nullable String answered(int id, @Nullable Status refusal) {
        if (id > lastId || ((id ^ lastId) & 1) != 0) {
            return "answer for a consumer that was never announced, id=" + id;
        }
        Entry entry = entries.get(id);
        if (entry == null) {
            return null; // the consumer's wait timed out
        }
        if (entry.answered) {
            return "second answer for a consumer, id=" + id;
        }
        entry.answered = true;
        ConsumerContext consumer = entry.queue.consumer();
        if (refusal == null) {
            consumer.accepted(entry.queue);
        } else {
            entry.expired = true; // the peer has forgotten it already
            consumer.postFatal(
                    entry.queue,
                    new DpuException(
                            refusal.isError() ? refusal : Status.UNKNOWN,
                            Text.format(
                                    "peer refused the consumer: id=%d, status=%s, connection=%s%s",
                                    id,
                                    refusal,
                                    connection,
                                    refusal == Status.NOT_SUPPORTED
                                            ? ", expected=acceptStreams or"
                                                    + " setConsumerCallbacks at the peer,"
                                                    + " before its start, and a device"
                                                    + " with producers"
                                            : "")));
        }
        return null;
    }

    /** The connection ends: notifies all consumers of the reason. */
    void closing(DpuException reason) {
        closing = true;
        for (Entry entry : entries.values()) {
            entry.queue.consumer().postFatal(entry.queue, reason);
        }
    }
}
