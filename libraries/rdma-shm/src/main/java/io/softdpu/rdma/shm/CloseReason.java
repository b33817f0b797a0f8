package io.softdpu.rdma.shm;

import io.softdpu.core.Status;

/**
 * Reason for closing a connection: the status of its tasks, the status and the reason of the
 * connection, and the status word for the peer.
 */
enum CloseReason {
    /** This side disconnected, or its context stops. */
    LOCAL_DISCONNECT(Status.CONNECTION_ABORTED, Status.SUCCESS, ShmWire.STATUS_DISCONNECTED, ""),
    /** The peer disconnected, or its context stopped. */
    PEER_DISCONNECT(Status.CONNECTION_RESET, Status.SUCCESS, ShmWire.STATUS_DISCONNECTED, ""),
    /** The peer's process ended, or the peer revoked its ring without a disconnect. */
    PEER_GONE(
            Status.CONNECTION_RESET,
            Status.CONNECTION_RESET,
            ShmWire.STATUS_FAILED,
            "the peer of the RDMA connection has ended"),
    /** The peer reports that its end of the connection has failed. */
    PEER_FAILED(
            Status.CONNECTION_RESET,
            Status.CONNECTION_RESET,
            ShmWire.STATUS_FAILED,
            "the RDMA connection has failed at the peer"),
    /** A message did not fit the receive task that it found on this side. */
    LOCAL_RECEIVE_TOO_SMALL(
            Status.CONNECTION_ABORTED,
            Status.TOO_BIG,
            ShmWire.STATUS_RECEIVE_TOO_SMALL,
            "a message was larger than the buffer of its receive task"),
    /** A message of this side did not fit the peer's receive task. */
    PEER_RECEIVE_TOO_SMALL(
            Status.CONNECTION_ABORTED,
            Status.IO_FAILED,
            ShmWire.STATUS_FAILED,
            "a message was larger than the buffer of the peer's receive task"),
    /** The peer had no receive task for a message, and the retries are exhausted. */
    RECEIVER_NOT_READY(
            Status.CONNECTION_ABORTED,
            Status.IO_FAILED,
            ShmWire.STATUS_FAILED,
            "the peer had no receive task for a message, and the retries are exhausted"),
    /** Remote memory or the sync event of a task in flight has been revoked. */
    REMOTE_MEMORY_REVOKED(
            Status.CONNECTION_ABORTED,
            Status.SHUTDOWN,
            ShmWire.STATUS_FAILED,
            "remote memory or sync event of a task in flight has been revoked"),
    /** This side detected a protocol violation of the peer. */
    PROTOCOL_ERROR_DETECTED(
            Status.CONNECTION_ABORTED,
            Status.UNEXPECTED,
            ShmWire.STATUS_PROTOCOL_ERROR,
            "the peer of the RDMA connection violated the protocol"),
    /** The peer reports a protocol violation of this side. */
    PROTOCOL_ERROR_REPORTED(
            Status.CONNECTION_ABORTED,
            Status.UNEXPECTED,
            ShmWire.STATUS_FAILED,
            "the peer of the RDMA connection reported a protocol violation"),
    /** The connecting peer is not the exporter of the blob that was passed to connect. */
    WRONG_PEER(
            Status.CONNECTION_ABORTED,
            Status.AUTHENTICATION,
            ShmWire.STATUS_PROTOCOL_ERROR,
            "the peer of the RDMA connection is not the exporter of the connected blob"),
    /** The peer's ring could not be imported. */
    CONNECT_FAILED(
            Status.CONNECTION_ABORTED,
            Status.NOT_CONNECTED,
            ShmWire.STATUS_FAILED,
            "the peer of the RDMA connection could not be reached");

    /** Status of the tasks in flight. */
    final Status taskStatus;

    /** Status of the connection; SUCCESS after an orderly disconnect. */
    final Status connectionStatus;

    /** Status word for the peer. */
    final int wireStatus;

    /** Reason as text; empty for an orderly disconnect. */
    final String reason;

    CloseReason(Status taskStatus, Status connectionStatus, int wireStatus, String reason) {
        this.taskStatus = taskStatus;
        this.connectionStatus = connectionStatus;
        this.wireStatus = wireStatus;
        this.reason = reason;
    }

    /** The reason for a status word of the peer, which may hold any number. */
    static CloseReason ofWireStatus(int status) {
        return switch (status) {
            case ShmWire.STATUS_DISCONNECTED -> PEER_DISCONNECT;
            case ShmWire.STATUS_RECEIVE_TOO_SMALL -> PEER_RECEIVE_TOO_SMALL;
            case ShmWire.STATUS_PROTOCOL_ERROR -> PROTOCOL_ERROR_REPORTED;
            default -> PEER_FAILED;
        };
    }
}
