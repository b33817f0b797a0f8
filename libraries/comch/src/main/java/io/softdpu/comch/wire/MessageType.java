package io.softdpu.comch.wire;

import org.jspecify.annotations.Nullable;

/** Type of a ring message, encoded in the slot's header. */
public enum MessageType {
    /** A message of the application: payload of 0 up to the maximum message size, word 0. */
    DATA(1),
    /** Announces a consumer: payload {@link ConsumerAnnouncement}, word its id. */
    CONSUMER_NEW(2),
    /** Accepts an announced consumer, which can be sent to now: no payload, word its id. */
    CONSUMER_READY(3),
    /** Refuses an announced consumer: no payload, word its id and a status. */
    CONSUMER_REFUSED(4),
    /** Ends a consumer, whose memory the receiver has to release: no payload, word its id. */
    CONSUMER_EXPIRED(5),
    /** Last message of an orderly disconnect: no payload, word 0. */
    DISCONNECT(6);

    private static final MessageType[] TYPES = values();

    private final int code;

    MessageType(int code) {
        this.code = code;
    }

    /** The number in the slot's header. */
    public int code() {
        return code;
    }

    /** The type with this number, which the peer wrote; null if there is none. */
    public static @Nullable MessageType ofCode(int code) {
        return code < 1 || code > TYPES.length ? null : TYPES[code - 1];
    }
}
