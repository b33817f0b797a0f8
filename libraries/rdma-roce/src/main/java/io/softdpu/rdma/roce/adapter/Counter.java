package io.softdpu.rdma.roce.adapter;

import java.util.Locale;

/** Counts that an adapter keeps of received packets. */
public enum Counter {
    /** All packets. */
    RECEIVED,
    /** Those that are not well-formed. */
    MALFORMED,
    /** Those for a queue pair that does not exist. */
    UNKNOWN_QUEUE_PAIR,
    /** Those that come from another address than that of the queue pair's peer. */
    FOREIGN_SOURCE,
    /** Those with an opcode that the queue pair does not take. */
    WRONG_KIND,
    /** Those with a wrong ICRC. */
    BAD_ICRC,
    /** Congestion notifications, which have no effect. */
    CONGESTION_NOTIFICATION,
    /** Packets with a mark of congestion. */
    CONGESTION_MARK,
    /** Datagrams of connection management. */
    DATAGRAM;

    private final String key = "nic_" + name().toLowerCase(Locale.ROOT);

    /** Its name for programs, in snake_case. */
    public String key() {
        return key;
    }
}
