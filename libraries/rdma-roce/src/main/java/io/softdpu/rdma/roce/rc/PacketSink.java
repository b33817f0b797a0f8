package io.softdpu.rdma.roce.rc;

/** Taker of outgoing packets. Allocates nothing. */
public interface PacketSink {
    /** Whether it takes a packet now; if not, it is asked again at the next transmission. */
    boolean isReady();

    /**
     * Takes a packet, whose object is used again after this call. The payload stays as it is until
     * the call of the adapter that has transmitted it returns: a sink that keeps references sends
     * the bytes by then, or copies them.
     */
    void send(OutgoingPacket packet);
}
