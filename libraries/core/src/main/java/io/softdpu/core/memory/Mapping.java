package io.softdpu.core.memory;

/** Purpose of an imported mmap, which decides whether it is mapped. */
public enum Mapping {
    /** Access by this program: the memory is mapped and populated before the import returns. */
    ACCESS,
    /**
     * Re-export only: it can be exported for RDMA, is never mapped here, and costs this program no
     * memory. A task of this machine that needs its bytes fails with NOT_SUPPORTED.
     */
    NONE
}
