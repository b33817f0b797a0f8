package io.softdpu.rdma.roce.rc;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/** Words of eight bytes that are accessed at once. */
final class Words {
    /** A word in memory; its offset is a multiple of eight in the process. */
    static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private static final int MASK = Long.BYTES - 1;

    private Words() {}

    /** Whether an offset in memory is a multiple of eight in the process. */
    static boolean isAligned(MemorySegment memory, long offset) {
        return memory.maxByteAlignment() >= Long.BYTES
                ? (offset & MASK) == 0
                : memory.isNative() && (memory.address() + offset & MASK) == 0;
    }
}
