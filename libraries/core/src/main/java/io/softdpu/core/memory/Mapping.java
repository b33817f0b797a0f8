package io.softdpu.core.memory;

/** Purpose of an imported mmap, which decides whether it is mapped. */
public enum Mapping {
    /** Access by this program: the memory is mapped and populated before the import returns. */
    ACCESS,
    /**
     * Re-export only: it can be exported for RDMA, is not mapped here, and costs this program no
     * memory. A task of this machine that needs its bytes fails with NOT_SUPPORTED.
     *
     * <p>A provider of RDMA over a network serves the memory that its device exports. So once a
     * connection of that device has selected such a provider, this memory is mapped for it, but not
     * for tasks.
     */
    NONE
}
