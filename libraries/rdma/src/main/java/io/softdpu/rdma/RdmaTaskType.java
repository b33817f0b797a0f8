package io.softdpu.rdma;

/**
 * The eleven operations of the RDMA guide. {@link RdmaCapabilities#isSupported(RdmaTaskType)} tells
 * which of them a device has.
 */
public enum RdmaTaskType {
    /** Takes what a peer sends. */
    RECEIVE,
    /** Sends a message to a peer's receive task. */
    SEND,
    /** Sends a message with a 32-bit value beside it. */
    SEND_IMMEDIATE,
    /** Fetches from memory of the peer. */
    READ,
    /** Stores into memory of the peer. */
    WRITE,
    /** Stores into memory of the peer and tells its receive task, with a 32-bit value. */
    WRITE_IMMEDIATE,
    /** Compares and swaps eight bytes of the peer's memory. */
    ATOMIC_COMPARE_AND_SWAP,
    /** Adds to eight bytes of the peer's memory. */
    ATOMIC_FETCH_AND_ADD,
    /** Fetches the value of a peer's sync event. */
    REMOTE_SYNC_EVENT_GET,
    /** Sets a peer's sync event. */
    REMOTE_SYNC_EVENT_NOTIFY_SET,
    /** Adds to a peer's sync event. */
    REMOTE_SYNC_EVENT_NOTIFY_ADD
}
