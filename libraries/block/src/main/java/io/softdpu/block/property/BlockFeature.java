package io.softdpu.block.property;

/** Feature that a block device may have. Any thread. */
public enum BlockFeature {
    /** It has the flush task, after which acknowledged writes survive what the device promises. */
    FLUSH,
    /** Writes can be flushed one by one, by the flag FUA (force unit access) of a task. */
    FUA,
    /** It has the discard task. */
    DISCARD,
    /** It has the write-zeroes task. */
    WRITE_ZEROES,
    /** It has the extents task. */
    EXTENTS,
    /** Its blocks cannot be changed: it has none of the tasks that write, zero or discard. */
    READ_ONLY,
    /** Its blocks are still there when it is opened again, also by another process. */
    PERSISTENT
}
