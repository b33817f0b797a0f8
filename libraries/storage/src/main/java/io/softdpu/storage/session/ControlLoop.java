package io.softdpu.storage.session;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.storage.control.WaitLoop;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/** Waits of a session's control thread, to which it belongs. */
public final class ControlLoop {
    private final String role;
    private final LongConsumer sleep;
    private final Runnable check;

    /**
     * A loop.
     *
     * @param role for messages
     * @param sleep sleeps until something happens that the role listens to, or for so many
     *     nanoseconds
     * @param check throws why the session cannot go on
     */
    ControlLoop(String role, LongConsumer sleep, Runnable check) {
        this.role = role;
        this.sleep = sleep;
        this.check = check;
    }

    /** Sleeps until something happens that the role listens to, or the time has passed. */
    public void awaitNews(long timeoutNanos) {
        sleep.accept(timeoutNanos);
    }

    /**
     * Looks after the workers and the peers.
     *
     * @throws DpuException why one of them failed
     */
    public void check() {
        check.run();
    }

    /**
     * Waits until a condition holds, and looks after the workers and the peers meanwhile.
     *
     * @param what for the message
     * @throws DpuException TIME_OUT; why a peer or a worker failed
     */
    public void awaitUntil(String what, long timeoutNanos, BooleanSupplier condition) {
        awaitUntil(what, timeoutNanos, condition, () -> "");
    }

    /**
     * The same.
     *
     * @param wanting what did not come about, for the message: {@code ", key=value"}
     */
    void awaitUntil(
            String what, long timeoutNanos, BooleanSupplier condition, Supplier<String> wanting) {
        boolean holds =
                WaitLoop.await(
                        () -> {
                            if (condition.getAsBoolean()) {
                                return true;
                            }
                            check();
                            // What the check has seen come may end no sleep any more.
                            return condition.getAsBoolean();
                        },
                        Deadline.in(timeoutNanos),
                        sleep);
        if (!holds) {
            throw new DpuException(
                    Status.TIME_OUT,
                    what
                            + " took too long: role="
                            + role
                            + ", waited_ms="
                            + timeoutNanos / 1_000_000
                            + wanting.get());
        }
    }

    /**
     * Waits until a condition holds, whatever becomes of workers and peers.
     *
     * @return false if the time has passed
     */
    boolean awaitAnyway(long timeoutNanos, BooleanSupplier condition) {
        return WaitLoop.await(condition, Deadline.in(timeoutNanos), sleep);
    }
}
