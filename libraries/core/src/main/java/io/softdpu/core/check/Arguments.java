package io.softdpu.core.check;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Checks of arguments at each entry point of core and the libraries above: an invalid one is
 * refused with INVALID_VALUE that names the argument, before any change. Any thread; allocates
 * nothing unless it refuses.
 */
public final class Arguments {
    private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE);

    private Arguments() {}

    /**
     * Refuses null.
     *
     * @param value the argument
     * @param argument the name of the parameter, for the message
     * @return the value
     * @throws DpuException INVALID_VALUE if it is null
     */
    public static <T> T notNull(@Nullable T value, String argument) {
        if (value == null) {
            throw isNull(argument);
        }
        return value;
    }

    /**
     * Refuses memory that this thread cannot read: closed already, or confined to another thread.
     *
     * @param memory the argument
     * @param argument the name of the parameter, for the message
     * @return the memory
     * @throws DpuException INVALID_VALUE if it is null or cannot be read
     */
    public static MemorySegment readable(@Nullable MemorySegment memory, String argument) {
        MemorySegment segment = notNull(memory, argument);
        if (!isReadable(segment)) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "memory is closed or belongs to another thread: argument=%s, sizeBytes=%d, thread=%s"
                            .formatted(
                                    argument,
                                    segment.byteSize(),
                                    Thread.currentThread().getName()));
        }
        return segment;
    }

    /** Whether this thread can read the memory now; for the data path. */
    public static boolean isReadable(MemorySegment memory) {
        return memory.scope().isAlive() && memory.isAccessibleBy(Thread.currentThread());
    }

    /**
     * Refuses a negative duration.
     *
     * @param value the argument
     * @param argument the name of the parameter, for the message
     * @return its nanoseconds; {@link Long#MAX_VALUE}, 292 years, for a longer one
     * @throws DpuException INVALID_VALUE if it is null or negative
     */
    public static long nanos(@Nullable Duration value, String argument) {
        Duration duration = notNull(value, argument);
        if (duration.isNegative()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "duration is negative: argument=%s, value=%s, expected=0 or more"
                            .formatted(argument, duration));
        }
        return duration.compareTo(LONGEST) < 0 ? duration.toNanos() : Long.MAX_VALUE;
    }

    private static DpuException isNull(String argument) {
        return new DpuException(Status.INVALID_VALUE, "argument is null: argument=" + argument);
    }
}
