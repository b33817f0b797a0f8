package io.softdpu.rdma.roce.capture;

/** Remark on a well-formed packet of a connection, by the sequence numbers before it. */
public enum Note {
    /** A request whose sequence number was there before: the sender repeats. */
    RETRANSMISSION,
    /** A positive answer whose sequence number was answered before. */
    DUPLICATE,
    /** A request, or data of a read, before which packets are missing. */
    GAP
}
