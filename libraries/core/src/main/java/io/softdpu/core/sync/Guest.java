package io.softdpu.core.sync;

/**
 * What other processes create from the exports of a sync event; each kind with a key of its own.
 */
enum Guest {
    /** A handle of a program of the DPU. */
    DPU_HANDLE,
    /** A remote event, for RDMA tasks. */
    REMOTE_EVENT
}
