package io.softdpu.storage.session;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.storage.control.WaitLoop;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Wait loop of a session's control thread, to which it belongs. */
public final class ControlLoop {
    private final String role;
    private final Consumer<Duration> sleep;
    private final Runnable check;

    /**
     * Creates a loop.
     *
     * @param role for messages
     * @param sleep sleeps until an event of the role, or for the given time
     * @param check throws if a worker or a peer has failed
     */
    ControlLoop(String role, Consumer<Duration> sleep, Runnable check) {
        this.role = role;
        this.sleep = sleep;
        this.check = check;
    }

    /** Sleeps until an event of the role, or until the time has passed. */
    public void awaitEvent(Duration timeout) {
        sleep.accept(timeout);
    }

    /**
     * Checks the workers and the peers.
     *
     * @throws DpuException the failure of one of them
     */
    public void check() {
        check.run();
    }

    /**
     * Waits until a condition holds, and checks the workers and the peers meanwhile.
     *
     * @param what the awaited operation, for the message
     * @throws DpuException TIME_OUT; the failure of a peer or a worker
     */
    public void awaitUntil(String what, long timeoutNanos, BooleanSupplier condition) {
        awaitUntil(what, timeoutNanos, condition, () -> "");
    }

    /**
     * As {@link #awaitUntil(String, long, BooleanSupplier)}.
     *
     * @param wanting details of a timeout, for the message: {@code ", key=value"}
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
                            // An event that the check has consumed does not end the sleep.
                            return condition.getAsBoolean();
                        },
                        Deadline.in(Duration.ofNanos(timeoutNanos)),
                        sleep);
        if (!holds) {
            throw new DpuException(
                    Status.TIME_OUT,
                    what
                            + " took too long: role="
                            + role
                            + ", waitedMillis="
                            + timeoutNanos / 1_000_000
                            + wanting.get());
        }
    }

    /**
     * Waits until a condition holds, without checking workers and peers.
     *
     * @return false if the time has passed
     */
    boolean awaitAnyway(long timeoutNanos, BooleanSupplier condition) {
        return WaitLoop.await(condition, Deadline.in(Duration.ofNanos(timeoutNanos)), sleep);
    }
}
