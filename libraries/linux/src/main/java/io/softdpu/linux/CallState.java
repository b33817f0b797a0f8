package io.softdpu.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;

/**
 * Native memory for system calls without allocation: errno, and a scratch area for small input and
 * output structures.
 *
 * <p>Each thread has one ({@link #current()}); an object on a hot path that is used by one thread
 * at a time may own one. Both areas are in one allocation that is valid while this object is
 * reachable, so passing {@link #errno} to a call keeps the scratch area valid during that call,
 * even if the call gets it as an address.
 */
final class CallState {
    /** Size of the largest structure in scratch, a statx. */
    static final int SCRATCH_BYTES = 256;

    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();

    private static final long ERRNO_OFFSET =
            CAPTURE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

    private static final ThreadLocal<CallState> CURRENT = ThreadLocal.withInitial(CallState::new);

    /** First argument of each call that is bound with errno. */
    final MemorySegment errno;

    /** {@link #SCRATCH_BYTES} bytes, 8-byte aligned, contents unspecified. */
    final MemorySegment scratch;

    /** Address of {@link #scratch}. */
    final long scratchAddress;

    CallState() {
        MemorySegment memory =
                Arena.ofAuto().allocate(SCRATCH_BYTES + CAPTURE.byteSize(), Long.BYTES);
        scratch = memory.asSlice(0, SCRATCH_BYTES);
        scratchAddress = scratch.address();
        errno = memory.asSlice(SCRATCH_BYTES);
    }

    /** The object of the calling thread; allocates on the thread's first call only. */
    static CallState current() {
        return CURRENT.get();
    }

    /** errno of the last failed call; unspecified if it did not fail. */
    int lastErrno() {
        return errno.get(ValueLayout.JAVA_INT, ERRNO_OFFSET);
    }
}
