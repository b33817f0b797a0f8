package io.softdpu.core.sync;

/**
 * Unit whose programs publish to a sync event or subscribe to it. A hint for the library and no
 * access right: each handle may update, read and wait.
 */
public enum SyncEventLocation {
    /** The CPU of the machine that creates the event. */
    CPU,
    /** The DPU. */
    DPU,
    /** A data path accelerator, which no machine here has. */
    DPA,
    /** A GPU, which no machine here has. */
    GPU,
    /** A machine on the network, whose programs use the event by RDMA tasks. */
    REMOTE
}
