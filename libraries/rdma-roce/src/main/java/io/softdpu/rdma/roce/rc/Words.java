package io.softdpu.rdma.roce.rc;

import java.lang.foreign.MemorySegment;

/** Words of eight bytes that are accessed at once. */
final class Words {
    private static final int MASK = Long.BYTES - 1;

    private Words() {}

    /** Whether an offset in memory is a multiple of eight in the process. */
    static boolean isAligned(MemorySegment memory, long offset) {
        return memory.maxByteAlignment() >= Long.BYTES
                ? (offset & MASK) == 0
                : memory.isNative() && (memory.address() + offset & MASK) == 0;
    }
}
