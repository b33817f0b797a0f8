package io.softdpu.comch.wire;

import io.softdpu.fabric.ring.MessageRing;

/** Limits of the Comm Channel; a peer that exceeds one is refused. */
public final class ChannelLimits {
    /** Largest message of the basic path, in bytes. */
    public static final int MAX_MESSAGE_BYTES = 4080;

    /** Longest receive queue, in messages. */
    public static final int MAX_RECEIVE_QUEUE = 1024;

    /** Longest server name in bytes of UTF-8; with the NUL that DOCA counts it is one more. */
    public static final int MAX_NAME_BYTES = 119;

    /** Largest number of consumers of one side of a connection, stopping ones included. */
    public static final int MAX_CONSUMERS = 64;

    /** Largest number of buffers that a consumer may have posted at a time. */
    public static final int MAX_POSTED_BUFFERS = 1 << 13;

    /**
     * Slots of a message ring beyond the receive queue, reserved for control messages, which can be
     * sent while the receive queue is full.
     */
    public static final int CONTROL_SLOTS = 8;

    private ChannelLimits() {}

    /** Geometry of the ring for a receive queue and the control messages. */
    public static MessageRing.Geometry ringFor(int maxMessageBytes, int receiveQueue) {
        return new MessageRing.Geometry(
                roundUpToPowerOfTwo(receiveQueue + CONTROL_SLOTS),
                Math.max(maxMessageBytes, ConsumerAnnouncement.WIRE_BYTES));
    }

    /** The smallest power of two that is not below the value, for 1 to 2^30. */
    public static int roundUpToPowerOfTwo(int value) {
        return value <= 1 ? 1 : Integer.highestOneBit(value - 1) << 1;
    }
}
