package io.softdpu.jcstress;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Native memory for the rings of the states, used in turn: nothing is cleared between two uses, so
 * that unpublished content is an old message and not a zero.
 *
 * <p>jcstress holds few states at a time: {@link Stress} sees to it that there are more pieces.
 */
public final class Memory {
    /** Enough for a ring of two small slots, and a multiple of the cache lines' pairs. */
    public static final long PIECE_BYTES = 4096;

    /** Pieces in the pool. */
    public static final int PIECES = 1 << 13;

    private static final MemorySegment POOL =
            Arena.global().allocate(PIECES * PIECE_BYTES, PIECE_BYTES);
    private static final AtomicLong NEXT = new AtomicLong();

    private Memory() {}

    /** A piece that no living state uses. */
    public static MemorySegment next() {
        return POOL.asSlice((NEXT.getAndIncrement() % PIECES) * PIECE_BYTES, PIECE_BYTES);
    }
}
