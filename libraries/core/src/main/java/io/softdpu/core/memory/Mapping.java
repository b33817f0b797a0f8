package io.softdpu.core.memory;

/** What an imported mmap is wanted for. */
public enum Mapping {
    /** Work on the memory: it is mapped here, and touched, before the import returns. */
    ACCESS,
    /**
     * Only to pass it on: it can be exported again for RDMA, is never mapped here, and costs this
     * program no memory. A task of this machine that needs its bytes fails with NOT_SUPPORTED.
     */
    NONE
}
