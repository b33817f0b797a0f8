package io.softdpu.rdma.roce.rc;

import java.util.Locale;

/** Counts that a queue pair keeps of its packets, in the order in which a program sees them. */
public enum ConnectionCounter {
    /** Packets of this connection that were sent, also those that the network has lost. */
    PACKETS_SENT,
    /** Their bytes, from the BTH to the ICRC. */
    BYTES_SENT,
    /** Packets of the peer with a right ICRC. */
    PACKETS_RECEIVED,
    /** Their bytes, from the BTH to the ICRC. */
    BYTES_RECEIVED,
    /** Payload of writes and of answers to reads that the NIC has copied out of packets. */
    NIC_PAYLOAD_BYTES_COPIED,
    /** Packets of requests that were sent again. */
    RETRANSMISSIONS,
    /** Timeouts, after which requests are sent again. */
    TIMEOUTS,
    /** Requests of the peer that had come before. */
    DUPLICATES,
    /** Requests of the peer behind a gap, which were dropped. */
    DROPPED_BEHIND_GAP,
    /** Answers of the peer that no request waits for, which were dropped. */
    DROPPED_ANSWERS,
    /** Packets with a wrong ICRC, which were dropped. */
    BAD_ICRC,
    /** Packets from another address than the peer's, which were dropped. */
    FOREIGN_SOURCE,
    /** Sequence errors that this side has told the peer of. */
    SEQUENCE_NAKS_SENT,
    /** Sequence errors that the peer has told of. */
    SEQUENCE_NAKS_RECEIVED,
    /** Messages of the peer that found no receive. */
    RNR_NAKS_SENT,
    /** Messages of this side that found no receive. */
    RNR_NAKS_RECEIVED,
    /** Requests of the peer that were refused as invalid. */
    INVALID_REQUEST_NAKS_SENT,
    /** Requests of this side that were refused as invalid. */
    INVALID_REQUEST_NAKS_RECEIVED,
    /** Requests of the peer that were refused for want of a right. */
    REMOTE_ACCESS_NAKS_SENT,
    /** Requests of this side that were refused for want of a right. */
    REMOTE_ACCESS_NAKS_RECEIVED,
    /** Requests of the peer that could not be executed. */
    REMOTE_OPERATION_NAKS_SENT,
    /** Requests of this side that could not be executed. */
    REMOTE_OPERATION_NAKS_RECEIVED;

    private final String key = name().toLowerCase(Locale.ROOT);

    /** Its name for programs, in snake_case. */
    public String key() {
        return key;
    }
}
