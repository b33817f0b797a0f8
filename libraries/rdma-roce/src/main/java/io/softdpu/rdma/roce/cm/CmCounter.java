package io.softdpu.rdma.roce.cm;

import java.util.Locale;

/** Events of connection management that are counted, since nothing else shows them. */
public enum CmCounter {
    /** Datagrams for queue pair 1 with another queue key. */
    QUEUE_KEY,
    /** Datagrams that are no connection messages, or have illegal fields. */
    MALFORMED,
    /** Messages of kinds that softdpu does not use: SIDR_REQ, SIDR_REP, LAP and APR. */
    NOT_SUPPORTED,
    /** Messages with the ids of no connection of their sender. */
    UNKNOWN,
    /** Messages that had come before, or come too late or too early for their connection. */
    REPEATED,
    /** Requests that the library has rejected. */
    REFUSED,
    /** Requests that their senders have given up, or not repeated any more. */
    GIVEN_UP,
    /** Messages of this side for which there was no place on their way. */
    NOT_SENT;

    private final String key = "cm_" + name().toLowerCase(Locale.ROOT);

    /** Its name for programs, in snake_case. */
    public String key() {
        return key;
    }
}
