package io.softdpu.block.file;

/** Kind of step of a request: nearly always one system call. */
enum Step {
    /** Reads bytes. */
    READ,
    /** Writes bytes. */
    WRITE,
    /** Makes zeros or holes. */
    ALLOCATE,
    /** Finds data and holes. */
    FIND,
    /** Makes what was written durable, of the range or, without a length, of all. */
    SYNC,
    /** Gives the device another identity, since bytes were lost; by threads alone. */
    RENEW
}
