package io.softdpu.block.file;

/** Kind of step of a request: one system call. */
enum Step {
    /** Reads bytes. */
    READ,
    /** Writes bytes. */
    WRITE,
    /** Writes bytes so that they are durable when it has ended. */
    WRITE_DURABLY,
    /** Makes all bytes durable. */
    SYNC,
    /** Makes zeros or holes. */
    ALLOCATE,
    /** Finds data and holes. */
    FIND
}
