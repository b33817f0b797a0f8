package io.softdpu.comch;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory that a program gets under the sanitizer in place of a buffer's own: a copy that ends with
 * the program's use of the buffer, so that an access after it fails with IllegalStateException
 * where it is made. A copy that is being accessed when it should end, as by a read from a socket,
 * is reported and stays. Any thread may access the copy; the rest belongs to the engine's thread.
 */
final class LentMemory {
    private static final long ALIGNMENT_BYTES = 64;

    private final MemorySegment own;

    /** Reports that the memory cannot end, since it is being accessed. */
    private final Runnable misused;

    private MemorySegment lent = MemorySegment.NULL;
    private Arena arena = Arena.global(); // until the first use

    LentMemory(MemorySegment own, Runnable misused) {
        this.own = own;
        this.misused = misused;
    }

    /** A copy that ends with the arena. */
    static MemorySegment copy(MemorySegment own, Arena arena) {
        MemorySegment copy = arena.allocate(own.byteSize(), ALIGNMENT_BYTES).copyFrom(own);
        return own.isReadOnly() ? copy.asReadOnly() : copy;
    }

    /** The memory of the present use, or of the last one, which has ended. */
    MemorySegment segment() {
        return lent;
    }

    /** Begins a use. */
    void lend() {
        arena = Arena.ofShared();
        lent = copy(own, arena);
    }

    /** Ends the use, and has what the program has written in the buffer's own memory. */
    void takeBack() {
        if (!own.isReadOnly()) {
            own.copyFrom(lent);
        }
        try {
            arena.close();
        } catch (IllegalStateException e) { // an access is under way, which began before
            misused.run();
        }
    }
}
