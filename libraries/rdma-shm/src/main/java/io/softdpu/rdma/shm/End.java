package io.softdpu.rdma.shm;

import io.softdpu.core.Status;

/**
 * Why a connection ends: what its tasks are told, what the connection says of itself, and what the
 * peer is told through the status word.
 */
enum End {
    /** This side disconnected, or its context stops. */
    DISCONNECTED_HERE(Status.CONNECTION_ABORTED, Status.SUCCESS, ShmWire.STATUS_DISCONNECTED, ""),
    /** The peer disconnected, or its context stopped. */
    DISCONNECTED_THERE(Status.CONNECTION_RESET, Status.SUCCESS, ShmWire.STATUS_DISCONNECTED, ""),
    /** The peer's process ended, or it took its ring away without a word. */
    PEER_GONE(
            Status.CONNECTION_RESET,
            Status.CONNECTION_RESET,
            ShmWire.STATUS_FAILED,
            "the peer of the RDMA connection has gone"),
    /** The peer says that its connection has failed. */
    FAILED_THERE(
            Status.CONNECTION_RESET,
            Status.CONNECTION_RESET,
            ShmWire.STATUS_FAILED,
            "the RDMA connection has failed at the peer"),
    /** A message did not fit the receive that it found. */
    RECEIVE_TOO_SMALL_HERE(
            Status.CONNECTION_ABORTED,
            Status.TOO_BIG,
            ShmWire.STATUS_RECEIVE_TOO_SMALL,
            "a message was larger than the buffer of the receive that it found"),
    /** A message of ours did not fit the peer's receive. */
    RECEIVE_TOO_SMALL_THERE(
            Status.CONNECTION_ABORTED,
            Status.IO_FAILED,
            ShmWire.STATUS_FAILED,
            "a message was larger than the buffer of the peer's receive"),
    /** The peer had no receive for a message, and the retries are used up. */
    RECEIVER_NOT_READY(
            Status.CONNECTION_ABORTED,
            Status.IO_FAILED,
            ShmWire.STATUS_FAILED,
            "the peer had no receive task for a message, and the retries are used up"),
    /** Remote memory of a read or write has been withdrawn. */
    REMOTE_MEMORY_REVOKED(
            Status.CONNECTION_ABORTED,
            Status.CONNECTION_RESET,
            ShmWire.STATUS_FAILED,
            "remote memory of a read or write has been withdrawn"),
    /** The peer wrote what no correct peer writes. */
    PROTOCOL_ERROR_HERE(
            Status.CONNECTION_ABORTED,
            Status.UNEXPECTED,
            ShmWire.STATUS_PROTOCOL_ERROR,
            "the peer of the RDMA connection broke the protocol"),
    /** The peer says that we did. */
    PROTOCOL_ERROR_THERE(
            Status.CONNECTION_ABORTED,
            Status.UNEXPECTED,
            ShmWire.STATUS_FAILED,
            "the peer of the RDMA connection refused what it was sent"),
    /** Whoever came was not the one whose blob was given to connect. */
    WRONG_PEER(
            Status.CONNECTION_ABORTED,
            Status.AUTHENTICATION,
            ShmWire.STATUS_PROTOCOL_ERROR,
            "the peer of the RDMA connection is not the one whose blob was connected"),
    /** The peer's ring could not be fetched. */
    CONNECT_FAILED(
            Status.CONNECTION_ABORTED,
            Status.NOT_CONNECTED,
            ShmWire.STATUS_FAILED,
            "the peer of the RDMA connection could not be reached");

    /** Of the tasks that were in flight. */
    final Status taskStatus;

    /** Of the connection; SUCCESS if it ended in good order. */
    final Status connectionStatus;

    /** For the peer. */
    final int wireStatus;

    /** Why, for people. */
    final String reason;

    End(Status taskStatus, Status connectionStatus, int wireStatus, String reason) {
        this.taskStatus = taskStatus;
        this.connectionStatus = connectionStatus;
        this.wireStatus = wireStatus;
        this.reason = reason;
    }

    /** What a status word of the peer means; it may hold any number. */
    static End ofWireStatus(int status) {
        return switch (status) {
            case ShmWire.STATUS_DISCONNECTED -> DISCONNECTED_THERE;
            case ShmWire.STATUS_RECEIVE_TOO_SMALL -> RECEIVE_TOO_SMALL_THERE;
            case ShmWire.STATUS_PROTOCOL_ERROR -> PROTOCOL_ERROR_THERE;
            default -> FAILED_THERE;
        };
    }
}
