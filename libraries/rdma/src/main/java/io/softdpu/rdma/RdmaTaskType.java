package io.softdpu.rdma;

import io.softdpu.rdma.spi.WorkRequest;

/**
 * The eleven operations of the RDMA guide. {@link RdmaCapabilities#isSupported(RdmaTaskType)} tells
 * whether a device supports one.
 */
public enum RdmaTaskType {
    /** Receives a message of a peer. */
    RECEIVE(WorkRequest.Kind.RECEIVE, "receive", "setReceiveTasks"),
    /** Sends a message to a peer's receive task. */
    SEND(WorkRequest.Kind.SEND, "send", "setSendTasks"),
    /** Sends a message with a 32-bit immediate value. */
    SEND_IMMEDIATE(WorkRequest.Kind.SEND_IMMEDIATE, "send with immediate", "setSendImmediateTasks"),
    /** Reads memory of the peer. */
    READ(WorkRequest.Kind.READ, "read", "setReadTasks"),
    /** Writes memory of the peer. */
    WRITE(WorkRequest.Kind.WRITE, "write", "setWriteTasks"),
    /**
     * Writes memory of the peer and completes a receive task of it, with a 32-bit immediate value.
     */
    WRITE_IMMEDIATE(
            WorkRequest.Kind.WRITE_IMMEDIATE, "write with immediate", "setWriteImmediateTasks"),
    /** Compares and swaps eight bytes of the peer's memory. */
    ATOMIC_COMPARE_AND_SWAP(
            WorkRequest.Kind.COMPARE_AND_SWAP, "compare and swap", "setCompareAndSwapTasks"),
    /** Adds to eight bytes of the peer's memory. */
    ATOMIC_FETCH_AND_ADD(WorkRequest.Kind.FETCH_AND_ADD, "fetch and add", "setFetchAndAddTasks"),
    /** Reads the value of a peer's sync event. */
    REMOTE_SYNC_EVENT_GET(
            WorkRequest.Kind.READ, "remote sync event get", "setRemoteSyncEventGetTasks"),
    /** Sets a peer's sync event. */
    REMOTE_SYNC_EVENT_NOTIFY_SET(
            WorkRequest.Kind.WRITE,
            "remote sync event notify set",
            "setRemoteSyncEventNotifySetTasks"),
    /** Adds to a peer's sync event. */
    REMOTE_SYNC_EVENT_NOTIFY_ADD(
            WorkRequest.Kind.FETCH_AND_ADD,
            "remote sync event notify add",
            "setRemoteSyncEventNotifyAddTasks");

    /** The operation of a provider that tasks of this type need. */
    final WorkRequest.Kind kind;

    /** The name of the type in messages. */
    final String label;

    /** The method of {@link Rdma} that configures the type, for messages. */
    final String setter;

    RdmaTaskType(WorkRequest.Kind kind, String label, String setter) {
        this.kind = kind;
        this.label = label;
        this.setter = setter;
    }
}
