package io.softdpu.storage.worker;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.execution.ProgressEngine;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Data path of a worker: rounds of progress until it is stopped and nothing is in flight. Runs
 * once. {@link #prepare} and {@link #run} belong to the worker's thread; the rest may be called
 * from any.
 */
final class DataPathLoop {
    /** Delay before what a queue had no room for is offered again, where nothing else happens. */
    private static final long RETRY_WAIT_NANOS = 100_000L;

    private final Worker worker;
    private final WorkerStatistics statistics;
    private final long controlTimeoutNanos;

    /** Ends a wait that nothing else ends, while a queue has refused something. */
    private @Nullable EngineTimer retryTimer;

    private volatile boolean requested;
    private volatile boolean running;
    private volatile boolean begun;
    private volatile boolean ended;

    DataPathLoop(Worker worker, WorkerStatistics statistics, long controlTimeoutNanos) {
        this.worker = worker;
        this.statistics = statistics;
        this.controlTimeoutNanos = controlTimeoutNanos;
    }

    /** Makes what it needs of the engine, before the engine does anything. */
    void prepare(ProgressEngine engine) {
        // Nothing to do in it: the round after the wait that it ends offers all again.
        retryTimer = engine.timer(() -> {});
    }

    /** Has the worker run it once its configuration phase allows it. */
    void request() {
        running = true;
        requested = true;
    }

    /** Has it end once nothing is in flight. */
    void stop() {
        running = false;
    }

    /** Whether it was requested and has not run yet. */
    boolean isPending() {
        return requested && !ended;
    }

    /** Whether something new may be begun. */
    boolean isRunning() {
        return running;
    }

    /** Whether everything that receives has been submitted. */
    boolean hasBegun() {
        return begun;
    }

    /** Whether it has ended, or was never requested. */
    boolean hasEnded() {
        return ended || !requested;
    }

    /** Runs it to its end. Throws nothing: a failure becomes the worker's. */
    void run(ProgressEngine engine) {
        worker.log().log(System.Logger.Level.INFO, "Core: " + worker.core() + " running");
        EngineTimer timer = Objects.requireNonNull(retryTimer, "not prepared");
        statistics.beginDataPath(engine);
        try {
            worker.beginDataPath();
            begun = true;
            worker.notifyControl();
            while (running && worker.failure() == null) {
                round(engine, timer, Long.MAX_VALUE);
            }
            drain(engine, timer);
            timer.cancel();
        } catch (RuntimeException | Error e) {
            worker.failed(e);
        }
        statistics.endDataPath(engine);
        ended = true;
        worker.log().log(System.Logger.Level.INFO, "Core: " + worker.core() + " complete");
        worker.notifyControl();
    }

    private void drain(ProgressEngine engine, EngineTimer timer) {
        Deadline deadline = Deadline.in(controlTimeoutNanos);
        // A session that is given up does not wait for answers: their sender may be why.
        while (worker.failure() == null && !worker.isEnding() && worker.inFlight() != 0) {
            round(engine, timer, deadline.remainingNanos());
            if (deadline.hasPassed() && worker.inFlight() != 0) {
                worker.fail(
                        new DpuException(
                                Status.TIME_OUT,
                                "transactions did not end: "
                                        + worker.name()
                                        + ", in_flight="
                                        + worker.inFlight()));
            }
        }
    }

    private void round(ProgressEngine engine, EngineTimer timer, long waitNanos) {
        worker.eachRound();
        worker.retryRefused();
        planRetry(timer);
        long timeoutNanos = Math.min(waitNanos, worker.longestWaitNanos());
        if (worker.expectsMessageSoon()) {
            engine.awaitSoon(timeoutNanos);
        } else {
            engine.await(timeoutNanos);
        }
    }

    /** A timer that is set stays: while other messages come, each round has offered all again. */
    private void planRetry(EngineTimer timer) {
        if (!worker.hasRefused()) {
            timer.cancel();
        } else if (!timer.isSet()) {
            timer.set(RETRY_WAIT_NANOS);
        }
    }
}
