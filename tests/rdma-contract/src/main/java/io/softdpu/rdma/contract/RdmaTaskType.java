package io.softdpu.rdma.contract;

/** Types of tasks, for tests that run with each. */
enum RdmaTaskType {
    SEND,
    RECEIVE,
    READ,
    WRITE
}
