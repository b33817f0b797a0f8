package io.softdpu.fabric.ring;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.Memfd;
import io.softdpu.linux.MemoryMapping;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Shared memory of a ring between two pages that nobody may touch: an access to one ends the
 * process. What is left of the ring's own pages holds canaries.
 *
 * <p>The segment of a ring reaches into the page behind, so that no check of the JDK stands between
 * a wrong offset and the guard; before its beginning such a check is the guard.
 */
final class GuardedMemory {
    private static final byte CANARY = (byte) 0xc5;
    private static final int PROT_NONE = 0;

    private final MemorySegment whole;
    private final long page = MemoryMapping.pageSize();
    private final long usableBytes;
    private final MemorySegment canaries;
    private long ringStart;
    private long ringBytes;

    GuardedMemory(long largestRingBytes) {
        usableBytes = (largestRingBytes + page - 1) / page * page;
        long total = usableBytes + 2 * page;
        int descriptor = Memfd.create("guarded-ring");
        Memfd.allocate(descriptor, total);
        long address = MemoryMapping.map(descriptor, total, true);
        FileDescriptors.close(descriptor);
        forbid(address, page);
        forbid(address + page + usableBytes, page);
        whole = MemoryMapping.segment(address, total, Arena.global());
        canaries = MemorySegment.ofArray(new byte[(int) usableBytes]).fill(CANARY);
    }

    /**
     * Memory for a ring.
     *
     * @param atEnd whether the ring ends where the guard begins, else it begins where one ends
     */
    MemorySegment ring(long sizeBytes, boolean atEnd) {
        ringStart = page + (atEnd ? usableBytes - sizeBytes : 0);
        ringBytes = sizeBytes;
        whole.asSlice(page, usableBytes).fill(CANARY);
        return whole.asSlice(ringStart);
    }

    /** Whether nothing was written beside the ring. */
    boolean isIntact() {
        return intact(page, ringStart) && intact(ringStart + ringBytes, page + usableBytes);
    }

    private boolean intact(long from, long to) {
        return MemorySegment.mismatch(whole, from, to, canaries, 0, to - from) < 0;
    }

    @SuppressWarnings("restricted")
    private static void forbid(long address, long sizeBytes) {
        Linker linker = Linker.nativeLinker();
        MethodHandle mprotect =
                linker.downcallHandle(
                        linker.defaultLookup().find("mprotect").orElseThrow(),
                        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
        try {
            if ((int) mprotect.invokeExact(address, sizeBytes, PROT_NONE) != 0) {
                throw new AssertionError("guard page not made");
            }
        } catch (Throwable e) {
            throw new AssertionError("guard page not made", e);
        }
    }
}
