package io.softdpu.rdma.roce.nic;

import io.softdpu.rdma.roce.capture.CaptureWriter;
import org.jspecify.annotations.Nullable;

/**
 * Options of a NIC.
 *
 * @param ackTimeout code of the longest time until a packet is repeated: 4.096 µs x 2^code
 * @param retries repeats of a packet, each after that time, before its connection fails
 * @param receiveBufferBytes room for packets that wait for the NIC; the system may grant less
 * @param sendBufferBytes room for packets that wait for the network; the system may grant less
 * @param impairment of the packets that are sent; null for none
 * @param capture of its packets, which is shared by all NICs; null for none
 */
public record NicOptions(
        int ackTimeout,
        int retries,
        int receiveBufferBytes,
        int sendBufferBytes,
        @Nullable Impairment impairment,
        @Nullable CaptureWriter capture) {
    private static final int BUFFER_BYTES = 4 << 20;

    /** 0.5 seconds, seven retries, 4 MiB each, and neither of the others. */
    public static final NicOptions DEFAULTS =
            new NicOptions(17, 7, BUFFER_BYTES, BUFFER_BYTES, null, null);

    /** The same with another longest time until a packet is repeated. */
    public NicOptions withAckTimeout(int code) {
        return new NicOptions(
                code, retries, receiveBufferBytes, sendBufferBytes, impairment, capture);
    }

    /** The same with another number of repeats. */
    public NicOptions withRetries(int number) {
        return new NicOptions(
                ackTimeout, number, receiveBufferBytes, sendBufferBytes, impairment, capture);
    }

    /** The same with another buffer for packets that wait for the NIC. */
    public NicOptions withReceiveBuffer(int bytes) {
        return new NicOptions(ackTimeout, retries, bytes, sendBufferBytes, impairment, capture);
    }

    /** The same with another buffer for packets that wait for the network. */
    public NicOptions withSendBuffer(int bytes) {
        return new NicOptions(ackTimeout, retries, receiveBufferBytes, bytes, impairment, capture);
    }

    /** The same with another impairment. */
    public NicOptions withImpairment(@Nullable Impairment other) {
        return new NicOptions(
                ackTimeout, retries, receiveBufferBytes, sendBufferBytes, other, capture);
    }

    /** The same with another capture. */
    public NicOptions withCapture(@Nullable CaptureWriter other) {
        return new NicOptions(
                ackTimeout, retries, receiveBufferBytes, sendBufferBytes, impairment, other);
    }
}
