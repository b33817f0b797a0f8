package io.softdpu.comch.wire;

import org.jspecify.annotations.Nullable;

/** Type of a ring message, as it stands in the slot's header. */
public enum MessageType {
    /** A message of the application: payload of 0 up to the maximum message size, word 0. */
    DATA(1),
    /** A consumer asks to be registered: payload {@link ConsumerAnnouncement}, word its id. */
    CONSUMER_NEW(2),
    /** The announced consumer can be sent to: no payload, word its id. */
    CONSUMER_READY(3),
    /** The announced consumer was not taken: no payload, word its id and a status. */
    CONSUMER_REFUSED(4),
    /** A consumer goes: its memory has to be let go of. No payload, word its id. */
    CONSUMER_EXPIRED(5),
    /** The last message of an orderly end: no payload, word 0. */
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

    /** The type with this number, null if there is none: the peer wrote it. */
    public static @Nullable MessageType ofCode(int code) {
        return code < 1 || code > TYPES.length ? null : TYPES[code - 1];
    }
}
