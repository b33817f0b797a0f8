package io.softdpu.core.execution;

/**
 * Processor on which the tasks of a context are submitted and completed (DOCA guides, "Alternative
 * Datapath Options"): see {@link Context#setDataPathLocation}.
 */
public enum DataPathLocation {
    /** The program's own threads, by a progress engine or work queues. The default. */
    CPU,
    /** Kernels on a data path accelerator: NOT_SUPPORTED. */
    DPA,
    /** Kernels on a GPU: NOT_SUPPORTED. */
    GPU
}
