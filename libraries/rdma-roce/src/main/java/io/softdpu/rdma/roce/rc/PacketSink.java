package io.softdpu.rdma.roce.rc;

/** Taker of outgoing packets. Allocates nothing. */
public interface PacketSink {
    /** Whether it takes a packet now; if not, it is asked again at the next transmission. */
    boolean isReady();

    /**
     * Takes a packet: sends or copies headers and payload before it returns. The object is used
     * again afterwards, and memory of the payload may change.
     */
    void send(OutgoingPacket packet);
}
