package io.softdpu.block.file;

/** Kind of step of a request: one system call. */
enum Step {
    /** Reads bytes. */
    READ,
    /** Writes bytes. */
    WRITE,
    /** Makes zeros or holes. */
    ALLOCATE,
    /** Finds data and holes. */
    FIND
}
