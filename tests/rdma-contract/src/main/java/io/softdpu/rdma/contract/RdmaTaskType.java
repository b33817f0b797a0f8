package io.softdpu.rdma.contract;

/** Types of tasks, for tests that run with each. */
enum RdmaTaskType {
    SEND,
    SEND_IMMEDIATE,
    RECEIVE,
    READ,
    WRITE,
    WRITE_IMMEDIATE,
    COMPARE_AND_SWAP,
    FETCH_AND_ADD;

    /** Whether a receive task of the peer is needed. */
    boolean needsReceive() {
        return this == SEND || this == SEND_IMMEDIATE || this == WRITE_IMMEDIATE;
    }

    /** Whether the task accesses the peer's memory. */
    boolean isRemote() {
        return this != SEND && this != SEND_IMMEDIATE && this != RECEIVE;
    }
}
