package io.softdpu.fabric.memory;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.MemoryLimits;
import io.softdpu.linux.text.Text;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;

/**
 * Check of memory that is about to be populated. The kernel refuses none that exceeds what the
 * machine or a memory cgroup has, but kills a process, so this refuses it before. It populates in
 * slices, and checks again before each: meanwhile others may populate theirs, or lower a limit. Any
 * thread.
 */
final class NewMemory {
    static final long SLICE_BYTES = 64L << 20;

    /** Smaller pieces, such as the rings of a connection, are checked together. */
    private static final long CHECKED_FROM_BYTES = 2 << 20;

    /**
     * Bytes of smaller pieces for which one check is made, since reading the limits costs more than
     * to populate one of them.
     */
    private static final long CHECKED_TOGETHER_BYTES = 16 << 20;

    /** Bytes of smaller pieces since the last check, in this process. */
    private static final AtomicLong UNCHECKED = new AtomicLong();

    /**
     * Limit of what is left for the JVM, whose heap, compiler and page tables grow with the use of
     * the memory; an eighth of small memory.
     */
    private static final long MAX_RESERVE_BYTES = 32 << 20;

    private final String what;
    private final long reserveBytes;
    private final LongFunction<Optional<String>> shortage;

    /** For tests: with another {@link MemoryLimits#shortage}, and a sum of their own. */
    NewMemory(
            String what,
            long sizeBytes,
            LongFunction<Optional<String>> shortage,
            AtomicLong unchecked) {
        this.what = what;
        this.reserveBytes = Math.min(sizeBytes / 8, MAX_RESERVE_BYTES);
        this.shortage = shortage;
        if (sizeBytes >= CHECKED_FROM_BYTES) {
            requireRoom(sizeBytes);
        } else if (unchecked.addAndGet(sizeBytes) >= CHECKED_TOGETHER_BYTES) {
            unchecked.set(0);
            requireRoom(CHECKED_TOGETHER_BYTES); // also for those that follow
        }
    }

    /**
     * Checks memory, of which nothing is allocated yet.
     *
     * @param what begins the message of an error
     * @throws FabricException NO_MEMORY
     */
    static NewMemory checked(String what, long sizeBytes) {
        return new NewMemory(what, sizeBytes, MemoryLimits::shortage, UNCHECKED);
    }

    /** Populates a part of the memory. */
    interface Slice {
        /** Populates from one offset to the other, both multiples of the page size. */
        void populate(long fromBytes, long untilBytes);
    }

    /**
     * Populates all of it.
     *
     * @param mappedBytes the size in whole pages
     * @throws FabricException NO_MEMORY if there is no room any more; the caller releases it
     */
    void populate(long mappedBytes, Slice slice) {
        long from = 0;
        while (from < mappedBytes) {
            long until = from + Math.min(SLICE_BYTES, mappedBytes - from);
            slice.populate(from, until);
            from = until;
            if (from < mappedBytes) {
                requireRoom(mappedBytes - from);
            }
        }
    }

    private void requireRoom(long leftBytes) {
        long left = Math.min(leftBytes, Long.MAX_VALUE - reserveBytes);
        shortage.apply(left + reserveBytes)
                .ifPresent(amounts -> {
                    throw new FabricException(
                            FabricException.Kind.NO_MEMORY,
                            Text.format(
                                    "%s, %s, expected=a smaller size or a higher limit",
                                    what, amounts));
                });
    }
}
