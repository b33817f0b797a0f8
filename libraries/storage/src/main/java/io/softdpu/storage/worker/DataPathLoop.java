package io.softdpu.storage.worker;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.storage.WaitMode;
import java.time.Duration;

/**
 * Data path loop of a worker: progress rounds until it is stopped and nothing is in flight. Runs
 * once. {@link #run} belongs to the worker's thread; the rest may be called from any thread.
 */
final class DataPathLoop {
    private final Worker worker;
    private final WorkerStatistics statistics;
    private final boolean busy;
    private final long controlTimeoutNanos;

    private volatile boolean requested;
    private volatile boolean running;
    private volatile boolean begun;
    private volatile boolean ended;

    DataPathLoop(
            Worker worker,
            WorkerStatistics statistics,
            WaitMode waitMode,
            long controlTimeoutNanos) {
        this.worker = worker;
        this.statistics = statistics;
        this.busy = waitMode == WaitMode.BUSY;
        this.controlTimeoutNanos = controlTimeoutNanos;
    }

    /** Requests that the worker runs it, in its configuration phase. */
    void request() {
        running = true;
        requested = true;
    }

    /** Requests its end once nothing is in flight. */
    void stop() {
        running = false;
    }

    /** Whether it was requested and has not run yet. */
    boolean isPending() {
        return requested && !ended;
    }

    /** Whether new transactions may be started. */
    boolean isRunning() {
        return running;
    }

    /** Whether all receive tasks have been submitted. */
    boolean hasBegun() {
        return begun;
    }

    /** Whether it has ended, or was never requested. */
    boolean hasEnded() {
        return ended || !requested;
    }

    /** Runs the loop. Throws nothing: a failure becomes the worker's. */
    void run(ProgressEngine engine) {
        worker.log().log(System.Logger.Level.INFO, "Core: " + worker.index() + " running");
        statistics.beginDataPath(engine);
        try {
            worker.beginDataPath();
            begun = true;
            worker.notifyControl();
            while (running && worker.failure() == null) {
                round(engine, Deadline.NO_LIMIT);
            }
            drain(engine);
        } catch (RuntimeException | Error e) {
            worker.failed(e);
        }
        try {
            worker.endDataPath();
        } catch (RuntimeException | Error e) {
            worker.failed(e);
        }
        statistics.endDataPath(engine);
        try {
            statistics.counted(worker.rdmaCounters());
        } catch (RuntimeException | Error e) {
            worker.failed(e);
        }
        ended = true;
        worker.log().log(System.Logger.Level.INFO, "Core: " + worker.index() + " complete");
        worker.notifyControl();
    }

    private void drain(ProgressEngine engine) {
        Deadline deadline = Deadline.in(Duration.ofNanos(controlTimeoutNanos));
        // An aborted session does not wait for responses: their sender may be the cause.
        while (worker.failure() == null && !worker.isEnding() && worker.inFlight() != 0) {
            round(engine, deadline.remaining());
            if (deadline.hasPassed() && worker.inFlight() != 0) {
                worker.fail(
                        new DpuException(
                                Status.TIME_OUT,
                                "transactions did not end: "
                                        + worker.name()
                                        + ", inFlight="
                                        + worker.inFlight()));
            }
        }
    }

    private void round(ProgressEngine engine, Duration longest) {
        worker.onRound();
        worker.retryPending();
        if (busy) {
            engine.progress();
        } else {
            worker.awaitWork(engine, longest);
        }
    }
}
