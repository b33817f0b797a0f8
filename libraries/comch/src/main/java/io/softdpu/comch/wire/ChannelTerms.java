package io.softdpu.comch.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.fabric.ring.MessageRing;

/**
 * What one side of a connection tells the other about itself: how large its messages are and how
 * its inbound ring is laid out. Part of {@link Hello} and {@link Welcome}.
 *
 * @param maxMessageBytes largest message, 1 to {@link ChannelLimits#MAX_MESSAGE_BYTES}
 * @param receiveQueue messages that may wait for the receiver, 1 to {@link
 *     ChannelLimits#MAX_RECEIVE_QUEUE}
 * @param ring geometry of the ring that the sender of these terms receives through
 */
public record ChannelTerms(int maxMessageBytes, int receiveQueue, MessageRing.Geometry ring) {
    /** Refuses a size out of range, or a ring that is not the one these sizes need. */
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

    /** Terms with the ring that the sizes need. */
    public static ChannelTerms of(int maxMessageBytes, int receiveQueue) {
        return new ChannelTerms(
                maxMessageBytes,
                receiveQueue,
                ChannelLimits.ringFor(maxMessageBytes, receiveQueue));
    }

    private static DpuException illegal(String name, int value, int maximum) {
        return new DpuException(
                Status.INVALID_VALUE,
                "channel terms refused: " + name + "=" + value + ", minimum=1, maximum=" + maximum);
    }
}
