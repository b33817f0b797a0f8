package io.softdpu.storage.control;

import io.softdpu.core.execution.Deadline;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Wait loop of control threads: checks a condition, sleeps until an event, and checks again. */
public final class WaitLoop {
    private WaitLoop() {}

    /**
     * Waits until a condition holds. The condition is checked before the deadline, so it is checked
     * at least once.
     *
     * @param condition may throw to end the wait
     * @param sleep sleeps until an event that the condition may depend on, or for the given time;
     *     may return early
     * @return false if the time has passed
     */
    public static boolean await(
            BooleanSupplier condition, Deadline deadline, Consumer<Duration> sleep) {
        while (!condition.getAsBoolean()) {
            if (deadline.hasPassed()) {
                return false;
            }
            sleep.accept(deadline.remaining());
        }
        return true;
    }

    /**
     * Waits until there is a result.
     *
     * @param attempt returns null if there is no result yet; may throw to end the wait
     * @param sleep as for {@link #await}
     * @return the result; null if the time has passed
     */
    public static <T> @Nullable T awaitResult(
            Supplier<@Nullable T> attempt, Deadline deadline, Consumer<Duration> sleep) {
        T result = attempt.get();
        while (result == null && !deadline.hasPassed()) {
            sleep.accept(deadline.remaining());
            result = attempt.get();
        }
        return result;
    }
}
