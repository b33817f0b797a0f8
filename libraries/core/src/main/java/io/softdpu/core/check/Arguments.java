package io.softdpu.core.check;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Checks of arguments at each entry point of core and the libraries above: an invalid one is
 * refused with INVALID_VALUE that names the argument, before any change. Any thread; allocates
 * nothing unless it refuses.
 */
public final class Arguments {
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
                    Text.format(
                            "memory is closed or belongs to another thread: argument=%s,"
                                    + " sizeBytes=%d, thread=%s",
                            argument, segment.byteSize(), Threads.current()));
        }
        return segment;
    }

    /** Whether this thread can read the memory now; for the data path. */
    public static boolean isReadable(MemorySegment memory) {
        return memory.scope().isAlive() && memory.isAccessibleBy(Thread.currentThread());
    }

    /**
     * The nanoseconds of a duration. Those that a long cannot hold, 292 years and more, are {@link
     * Long#MAX_VALUE}.
     *
     * @param duration the argument
     * @param argument the name of the parameter, for the message
     * @throws DpuException INVALID_VALUE if it is null or negative
     */
    public static long nanos(@Nullable Duration duration, String argument) {
        long nanos = TimeUnit.NANOSECONDS.convert(notNull(duration, argument));
        if (nanos < 0) {
            throw tooShort("is negative", argument, nanos, 0);
        }
        return nanos;
    }

    /**
     * The nanoseconds of a duration, as by {@link #nanos}.
     *
     * @param duration the argument
     * @param argument the name of the parameter, for the message
     * @throws DpuException INVALID_VALUE if it is null, negative or zero
     */
    public static long positiveNanos(@Nullable Duration duration, String argument) {
        long nanos = TimeUnit.NANOSECONDS.convert(notNull(duration, argument));
        if (nanos <= 0) {
            throw tooShort("is not positive", argument, nanos, 1);
        }
        return nanos;
    }

    private static DpuException tooShort(String how, String argument, long nanos, long least) {
        return new DpuException(
                Status.INVALID_VALUE,
                Text.format(
                        "duration %s: %sNanos=%d, expected=%d or more",
                        how, argument, nanos, least));
    }

    private static DpuException isNull(String argument) {
        return new DpuException(Status.INVALID_VALUE, "argument is null: argument=" + argument);
    }
}
