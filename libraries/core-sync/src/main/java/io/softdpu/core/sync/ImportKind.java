package io.softdpu.core.sync;

/**
 * Kind of object that other processes create from the exports of a sync event; each has its own
 * key.
 */
enum ImportKind {
    /** A handle of a program of the DPU. */
    DPU_HANDLE,
    /** A remote event, for RDMA tasks. */
    REMOTE_EVENT
}
