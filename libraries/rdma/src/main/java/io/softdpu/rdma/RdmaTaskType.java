package io.softdpu.rdma;

/**
 * The eleven operations of the RDMA guide. {@link RdmaCapabilities#isSupported(RdmaTaskType)} tells
 * whether a device supports one.
 */
public enum RdmaTaskType {
    /** Receives a message of a peer. */
    RECEIVE,
    /** Sends a message to a peer's receive task. */
    SEND,
    /** Sends a message with a 32-bit immediate value. */
    SEND_IMMEDIATE,
    /** Reads memory of the peer. */
    READ,
    /** Writes memory of the peer. */
    WRITE,
    /**
     * Writes memory of the peer and completes a receive task of it, with a 32-bit immediate value.
     */
    WRITE_IMMEDIATE,
    /** Compares and swaps eight bytes of the peer's memory. */
    ATOMIC_COMPARE_AND_SWAP,
    /** Adds to eight bytes of the peer's memory. */
    ATOMIC_FETCH_AND_ADD,
    /** Reads the value of a peer's sync event. */
    REMOTE_SYNC_EVENT_GET,
    /** Sets a peer's sync event. */
    REMOTE_SYNC_EVENT_NOTIFY_SET,
    /** Adds to a peer's sync event. */
    REMOTE_SYNC_EVENT_NOTIFY_ADD
}
