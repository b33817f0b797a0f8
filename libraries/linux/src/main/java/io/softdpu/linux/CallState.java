package io.softdpu.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;

/**
 * What a thread needs to make a system call without allocating: a place for errno and a scratch
 * area for small structures that go in or come out.
 *
 * <p>One stands behind each thread ({@link #current()}); an object that is used by one thread at a
 * time and sits on a hot path may own one. Both areas lie in one piece of memory that lives as long
 * as this object is reachable, so passing {@link #errno} to a call keeps the scratch area valid for
 * the time of that call, also where the call gets it as a bare address.
 */
final class CallState {
    /** Room for the largest structure that a call here reads or writes in scratch, a statx. */
    static final int SCRATCH_BYTES = 256;

    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();

    private static final long ERRNO_OFFSET =
            CAPTURE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

    private static final ThreadLocal<CallState> CURRENT = ThreadLocal.withInitial(CallState::new);

    /** First argument of each call that is bound with errno. */
    final MemorySegment errno;

    /** {@link #SCRATCH_BYTES} bytes, 8-byte aligned, contents unspecified. */
    final MemorySegment scratch;

    /** Where {@link #scratch} begins. */
    final long scratchAddress;

    CallState() {
        MemorySegment memory =
                Arena.ofAuto().allocate(SCRATCH_BYTES + CAPTURE.byteSize(), Long.BYTES);
        scratch = memory.asSlice(0, SCRATCH_BYTES);
        scratchAddress = scratch.address();
        errno = memory.asSlice(SCRATCH_BYTES);
    }

    /** The calling thread's own; allocates on the thread's first call only. */
    static CallState current() {
        return CURRENT.get();
    }

    /** What the last failed call left in errno; unspecified if it did not fail. */
    int lastErrno() {
        return errno.get(ValueLayout.JAVA_INT, ERRNO_OFFSET);
    }
}
