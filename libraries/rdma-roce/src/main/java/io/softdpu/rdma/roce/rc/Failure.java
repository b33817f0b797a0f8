package io.softdpu.rdma.roce.rc;

import io.softdpu.core.Status;

/**
 * Failure of a connection: the status of the request that failed, of the other requests in flight,
 * and of the connection.
 */
enum Failure {
    /** The peer has not answered, whatever was repeated. */
    NO_ANSWER(
            Status.CONNECTION_RESET,
            Status.CONNECTION_RESET,
            Status.CONNECTION_RESET,
            "the peer of the RDMA connection does not answer"),
    /** Nothing receives at the port of the peer. */
    PEER_GONE(
            Status.CONNECTION_RESET,
            Status.CONNECTION_RESET,
            Status.CONNECTION_RESET,
            "nothing receives at the port of the peer of the RDMA connection"),
    /** The interface of this side takes no packets of this length any more. */
    PACKET_TOO_LONG(
            Status.IO_FAILED,
            Status.CONNECTION_ABORTED,
            Status.IO_FAILED,
            "a packet is too long for the interface"),
    /** The peer had no receive for a message, and the retries are exhausted. */
    RECEIVER_NOT_READY(
            Status.IO_FAILED,
            Status.CONNECTION_ABORTED,
            Status.IO_FAILED,
            "the peer had no receive task for a message, and the retries are exhausted"),
    /** The peer could not execute a request, as a send that is larger than its receive. */
    PEER_OPERATION(
            Status.IO_FAILED,
            Status.CONNECTION_ABORTED,
            Status.IO_FAILED,
            "the peer could not execute a request, as a message larger than its receive task"),
    /** The peer does not grant the access, or its memory was withdrawn. */
    PEER_ACCESS(
            Status.NOT_PERMITTED,
            Status.CONNECTION_ABORTED,
            Status.NOT_PERMITTED,
            "the peer's memory is not accessible, not in this way or not any more"),
    /** The peer took a request as invalid. */
    PEER_INVALID(
            Status.UNEXPECTED,
            Status.CONNECTION_ABORTED,
            Status.UNEXPECTED,
            "the peer of the RDMA connection refused a request as invalid"),
    /** The peer has answered a read by a packet of another length. */
    INVALID_ANSWER(
            Status.UNEXPECTED,
            Status.CONNECTION_ABORTED,
            Status.UNEXPECTED,
            "the peer of the RDMA connection has answered a read by packets of another length"),
    /** A message did not fit the receive that it found on this side. */
    RECEIVE_TOO_SMALL(
            Status.TOO_BIG,
            Status.CONNECTION_ABORTED,
            Status.TOO_BIG,
            "a message was larger than the buffer of its receive task"),
    /** The peer asked for an access that is not granted. */
    ACCESS_REFUSED(
            Status.CONNECTION_ABORTED,
            Status.CONNECTION_ABORTED,
            Status.NOT_PERMITTED,
            "the peer asked for an access that is not granted to it"),
    /** Memory that is granted cannot take the operation. */
    OPERATION_REFUSED(
            Status.CONNECTION_ABORTED,
            Status.CONNECTION_ABORTED,
            Status.IO_FAILED,
            "the granted memory is not aligned as its address says"),
    /** Memory of a request, a receive or a grant of this side cannot be accessed any more. */
    LOCAL_MEMORY(
            Status.IO_FAILED,
            Status.CONNECTION_ABORTED,
            Status.IO_FAILED,
            "memory of a task cannot be accessed, as after the end of its arena"),
    /** The peer violated the protocol. */
    INVALID_REQUEST(
            Status.CONNECTION_ABORTED,
            Status.CONNECTION_ABORTED,
            Status.UNEXPECTED,
            "the peer of the RDMA connection violated the protocol");

    /** Status of the request that failed, or of the receive. */
    final Status failedStatus;

    /** Status of the other requests in flight, and of a receive under way. */
    final Status requestStatus;

    /** Status of the connection. */
    final Status connectionStatus;

    private final String text;

    Failure(Status failedStatus, Status requestStatus, Status connectionStatus, String text) {
        this.failedStatus = failedStatus;
        this.requestStatus = requestStatus;
        this.connectionStatus = connectionStatus;
        this.text = text;
    }

    /**
     * The reason of the connection.
     *
     * @param details {@code key=value}, one or more times
     */
    String reason(String details) {
        return text + ": " + details;
    }
}
