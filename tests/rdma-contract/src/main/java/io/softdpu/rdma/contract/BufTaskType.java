package io.softdpu.rdma.contract;

import io.softdpu.rdma.RdmaTaskType;

/** Types of tasks on bufs alone, for tests that run with each; the others are on sync events. */
enum BufTaskType {
    SEND(RdmaTaskType.SEND),
    SEND_IMMEDIATE(RdmaTaskType.SEND_IMMEDIATE),
    RECEIVE(RdmaTaskType.RECEIVE),
    READ(RdmaTaskType.READ),
    WRITE(RdmaTaskType.WRITE),
    WRITE_IMMEDIATE(RdmaTaskType.WRITE_IMMEDIATE),
    COMPARE_AND_SWAP(RdmaTaskType.ATOMIC_COMPARE_AND_SWAP),
    FETCH_AND_ADD(RdmaTaskType.ATOMIC_FETCH_AND_ADD);

    /** The type in the library. */
    final RdmaTaskType type;

    BufTaskType(RdmaTaskType type) {
        this.type = type;
    }

    /** Whether a receive task of the peer is needed. */
    boolean needsReceive() {
        return this == SEND || this == SEND_IMMEDIATE || this == WRITE_IMMEDIATE;
    }

    /** Whether the task accesses the peer's memory. */
    boolean isRemote() {
        return this != SEND && this != SEND_IMMEDIATE && this != RECEIVE;
    }
}
