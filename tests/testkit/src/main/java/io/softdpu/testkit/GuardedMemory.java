package io.softdpu.testkit;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Memory of a ring between two guard pages: an access to one ends the process. What is left of the
 * ring's own pages holds canaries. It stays until the process ends.
 *
 * <p>The segment of a ring reaches into the page behind, so that no check of the JDK stands between
 * a wrong offset and the guard; before its beginning such a check is the guard.
 */
public final class GuardedMemory {
    private static final byte CANARY = (byte) 0xc5;
    private static final int PROT_NONE = 0;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x22;

    private final MemorySegment whole;
    private final long page = pageBytes();
    private final long usableBytes;
    private final MemorySegment canaries;
    private long ringStart;
    private long ringBytes;

    /** Room for rings of up to so many bytes, one at a time. */
    public GuardedMemory(long largestRingBytes) {
        usableBytes = (largestRingBytes + page - 1) / page * page;
        long total = usableBytes + 2 * page;
        long address = map(total);
        forbid(address, page);
        forbid(address + page + usableBytes, page);
        whole = at(address, total);
        canaries = MemorySegment.ofArray(new byte[(int) usableBytes]).fill(CANARY);
    }

    /**
     * Memory for a ring.
     *
     * @param atEnd whether the ring ends where the guard begins, else it begins where one ends
     */
    public MemorySegment ring(long sizeBytes, boolean atEnd) {
        ringStart = page + (atEnd ? usableBytes - sizeBytes : 0);
        ringBytes = sizeBytes;
        whole.asSlice(page, usableBytes).fill(CANARY);
        return whole.asSlice(ringStart);
    }

    /** True if nothing was written outside of the ring. */
    public boolean isIntact() {
        return intact(page, ringStart) && intact(ringStart + ringBytes, page + usableBytes);
    }

    private boolean intact(long from, long to) {
        return MemorySegment.mismatch(whole, from, to, canaries, 0, to - from) < 0;
    }

    @SuppressWarnings("restricted")
    private static MemorySegment at(long address, long sizeBytes) {
        return MemorySegment.ofAddress(address).reinterpret(sizeBytes);
    }

    private static long pageBytes() {
        try {
            return (int) function("getpagesize", JAVA_INT).invokeExact();
        } catch (Throwable e) {
            throw new AssertionError("no size of a page", e);
        }
    }

    private static long map(long sizeBytes) {
        MethodHandle mmap =
                function(
                        "mmap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT,
                        JAVA_LONG);
        long address;
        try {
            address =
                    (long)
                            mmap.invokeExact(
                                    0L, sizeBytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0L);
        } catch (Throwable e) {
            throw new AssertionError("memory not mapped", e);
        }
        if (address == -1) {
            throw new AssertionError("memory not mapped: sizeBytes=" + sizeBytes);
        }
        return address;
    }

    private static void forbid(long address, long sizeBytes) {
        MethodHandle mprotect = function("mprotect", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
        int result;
        try {
            result = (int) mprotect.invokeExact(address, sizeBytes, PROT_NONE);
        } catch (Throwable e) {
            throw new AssertionError("guard page not made", e);
        }
        if (result != 0) {
            throw new AssertionError("guard page not made: result=" + result);
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle function(
            String name, MemoryLayout result, MemoryLayout... arguments) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().find(name).orElseThrow(),
                FunctionDescriptor.of(result, arguments));
    }
}
