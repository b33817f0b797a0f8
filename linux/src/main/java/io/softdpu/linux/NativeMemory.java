package io.softdpu.linux;

import static io.softdpu.linux.Libc.LONG;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;

/** Copies between bare addresses. Any thread. */
public final class NativeMemory {
    /**
     * Up to here a copy is a critical call: cheaper, but the collector waits for it. 64 KiB take
     * some ten microseconds at worst.
     */
    static final long CRITICAL_LIMIT_BYTES = 64 << 10;

    /** The result of memcpy is its first argument, so it is not asked for. */
    private static final FunctionDescriptor COPY =
            FunctionDescriptor.ofVoid(POINTER, POINTER, LONG);

    private static final MethodHandle MEMCPY = Libc.bindPlain("memcpy", COPY);
    private static final MethodHandle MEMCPY_CRITICAL =
            Libc.bindPlain("memcpy", COPY, Linker.Option.critical(false));

    private NativeMemory() {}

    /**
     * Copies bytes by libc's memcpy, which above some hundred MiB is faster than a copy between
     * segments. Allocates nothing. Nothing is checked: both ranges must be mapped, the destination
     * writable, and neither may be unmapped before this returns.
     *
     * @param destination where to
     * @param source where from; the ranges must not overlap
     * @param sizeBytes how much, 0 or more
     */
    public static void copy(long destination, long source, long sizeBytes) {
        if (sizeBytes < 0) {
            throw new IllegalArgumentException("negative size: sizeBytes=" + sizeBytes);
        }
        try {
            if (sizeBytes <= CRITICAL_LIMIT_BYTES) {
                MEMCPY_CRITICAL.invokeExact(destination, source, sizeBytes);
            } else {
                MEMCPY.invokeExact(destination, source, sizeBytes);
            }
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }
}
