package io.softdpu.linux;

import static io.softdpu.linux.Libc.LONG;
import static io.softdpu.linux.Libc.POINTER;

import io.softdpu.linux.text.Text;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Objects;

/** Access to memory by address, and copies by libc. Any thread. */
public final class NativeMemory {
    /**
     * All memory of this process: an offset in it is an address. For words that are accessed for
     * every message, in memory that the user holds a reference to, at offsets that are masked or
     * checked. A constant, so compiled code checks neither bounds nor lifetime, which was a quarter
     * of the cost of a message. An access to unmapped memory crashes the JVM, so the architecture
     * tests list the classes that may use this.
     */
    @SuppressWarnings("restricted")
    public static final MemorySegment ALL_MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    /**
     * The segments are passed as additional arguments after those of memmove, so that their memory
     * cannot be freed during the call by another thread; slices in place of the addresses would
     * allocate two objects per call until it is compiled by C2. Both calling conventions pass them
     * in registers that a callee with fewer arguments ignores. memmove's result is its first
     * argument, so it is not bound.
     */
    private static final MethodHandle MEMMOVE =
            Libc.bindPlain(
                    "memmove",
                    FunctionDescriptor.ofVoid(
                            POINTER, POINTER, LONG, ValueLayout.ADDRESS, ValueLayout.ADDRESS));

    private NativeMemory() {}

    /**
     * Copies as {@link MemorySegment#copy(MemorySegment, long, MemorySegment, long, long)} does,
     * but by libc's memmove: from a configurable size on (glibc's tunable {@code
     * glibc.cpu.x86_non_temporal_threshold}) this uses non-temporal stores, which for large copies
     * is up to 1.7 times faster. The order in which bytes are stored is libc's. The call itself
     * costs about 10 ns, so it is not for small ones. Allocates nothing. The memory cannot be freed
     * while this lasts: closing its arena from another thread throws IllegalStateException there. A
     * page that disappears during the copy, as when a mapped file is truncated, crashes the JVM:
     * copy such memory by other means.
     *
     * @param source native memory
     * @param destination native memory that may be written to; the ranges may overlap
     * @param sizeBytes bytes to copy, 0 or more
     * @throws IndexOutOfBoundsException if a range is not inside its segment
     * @throws IllegalArgumentException if a segment is not native, or the destination read-only
     * @throws IllegalStateException if a segment's memory was freed
     */
    public static void copy(
            MemorySegment source,
            long sourceOffset,
            MemorySegment destination,
            long destinationOffset,
            long sizeBytes) {
        Objects.checkFromIndexSize(sourceOffset, sizeBytes, source.byteSize());
        Objects.checkFromIndexSize(destinationOffset, sizeBytes, destination.byteSize());
        if (!source.isNative() || !destination.isNative() || destination.isReadOnly()) {
            throw new IllegalArgumentException(
                    Text.format(
                            "memory cannot be copied by libc: source=%s, destination=%s,"
                                    + " expected=native, destination writable",
                            source, destination));
        }
        try {
            MEMMOVE.invokeExact(
                    destination.address() + destinationOffset,
                    source.address() + sourceOffset,
                    sizeBytes,
                    destination,
                    source);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }
}
