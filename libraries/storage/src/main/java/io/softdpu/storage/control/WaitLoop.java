package io.softdpu.storage.control;

import io.softdpu.core.execution.Deadline;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Loop of a wait on a control thread: look, then sleep until there is news, then look again. */
public final class WaitLoop {
    private WaitLoop() {}

    /**
     * Waits until a condition holds. It is looked at before the clock is, so a wait of no time
     * looks once.
     *
     * @param condition may throw why there is nothing to wait for any more
     * @param sleep sleeps until something happens that the condition may depend on, or for so many
     *     nanoseconds; may return early
     * @return false if the time has passed
     */
    public static boolean await(BooleanSupplier condition, Deadline deadline, LongConsumer sleep) {
        while (!condition.getAsBoolean()) {
            if (deadline.hasPassed()) {
                return false;
            }
            sleep.accept(deadline.remainingNanos());
        }
        return true;
    }

    /**
     * Waits until there is a result.
     *
     * @param attempt null where there is none yet; may throw as the condition of {@link #await}
     * @param sleep as for {@link #await}
     * @return the result; null if the time has passed
     */
    public static <T> @Nullable T awaitResult(
            Supplier<@Nullable T> attempt, Deadline deadline, LongConsumer sleep) {
        T result = attempt.get();
        while (result == null && !deadline.hasPassed()) {
            sleep.accept(deadline.remainingNanos());
            result = attempt.get();
        }
        return result;
    }
}
