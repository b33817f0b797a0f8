package io.softdpu.block.spi;

/**
 * User of the memory of requests, besides the thread of the engine. It decides which memory a
 * context accepts.
 */
public enum MemoryUser {
    /** The thread of the engine alone, inside progress: any memory. */
    ENGINE,
    /** Threads of the device: memory that no thread has for itself. */
    THREADS,
    /**
     * The kernel, or code that is not Java's, to which the end of an arena means nothing: memory
     * that its mmap keeps open, which is SharedMemory, LocalMemory, and imports.
     */
    KERNEL
}
