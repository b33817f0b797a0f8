package io.softdpu.comch.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.fabric.ring.MessageRing;

/**
 * Parameters that each side of a connection sends to the other: its maximum message size and the
 * geometry of its receive ring. Part of {@link Hello} and {@link Welcome}.
 *
 * @param maxMessageBytes largest message, 1 to {@link ChannelLimits#MAX_MESSAGE_BYTES}
 * @param receiveQueue messages that may wait for the receiver, 1 to {@link
 *     ChannelLimits#MAX_RECEIVE_QUEUE}
 * @param ring geometry of the ring in which the sender of these terms receives
 */
public record ChannelTerms(int maxMessageBytes, int receiveQueue, MessageRing.Geometry ring) {
    /** Rejects a size out of range, or a ring that does not match the sizes. */
    public ChannelTerms {
        if (maxMessageBytes < 1 || maxMessageBytes > ChannelLimits.MAX_MESSAGE_BYTES) {
            throw illegal("maxMessageBytes", maxMessageBytes, ChannelLimits.MAX_MESSAGE_BYTES);
        }
        if (receiveQueue < 1 || receiveQueue > ChannelLimits.MAX_RECEIVE_QUEUE) {
            throw illegal("receiveQueue", receiveQueue, ChannelLimits.MAX_RECEIVE_QUEUE);
        }
        MessageRing.Geometry needed = ChannelLimits.ringFor(maxMessageBytes, receiveQueue);
        if (!ring.equals(needed)) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "channel terms refused: ring=" + ring + ", expected=" + needed);
        }
    }

    /** Terms with the ring that matches the sizes. */
    public static ChannelTerms of(int maxMessageBytes, int receiveQueue) {
        return new ChannelTerms(
                maxMessageBytes,
                receiveQueue,
                ChannelLimits.ringFor(maxMessageBytes, receiveQueue));
    }

    private static DpuException illegal(String name, int value, int maximum) {
        return new DpuException(
                Status.INVALID_VALUE,
                "channel terms refused: " + name + "=" + value + ", expected=1 to " + maximum);
    }
}
