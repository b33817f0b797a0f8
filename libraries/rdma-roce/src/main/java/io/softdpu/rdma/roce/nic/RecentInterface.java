package io.softdpu.rdma.roce.nic;

import io.softdpu.rdma.roce.wire.Gid;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Network interface that has a local address, as it is now or was a short time ago. A look costs
 * system calls, so what a peer causes takes the last answer for a while. Belongs to one thread.
 */
final class RecentInterface {
    /** Age up to which the last answer is used. */
    static final long MAX_AGE_NANOS = 100_000_000;

    private final Supplier<@Nullable LocalInterface> source;
    private final LongSupplier clock;
    private @Nullable LocalInterface last;
    private long lookedAt;

    /** That of an address. */
    RecentInterface(Gid address) {
        this(() -> LocalInterface.of(address), System::nanoTime);
    }

    /**
     * That of a source.
     *
     * @param clock in nanoseconds of any origin
     */
    RecentInterface(Supplier<@Nullable LocalInterface> source, LongSupplier clock) {
        this.source = source;
        this.clock = clock;
        lookedAt = clock.getAsLong() - MAX_AGE_NANOS;
    }

    /** As it is now; null if it was not found. */
    @Nullable LocalInterface now() {
        last = source.get();
        lookedAt = clock.getAsLong(); // behind what may throw
        return last;
    }

    /** As it was in the last {@link #MAX_AGE_NANOS}; null if it was not found. */
    @Nullable LocalInterface recent() {
        return clock.getAsLong() - lookedAt < MAX_AGE_NANOS ? last : now();
    }
}
