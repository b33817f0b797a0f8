package io.softdpu.storage.session;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.WorkerReport;
import io.softdpu.storage.worker.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * Workers of a session, which are started, moved from phase to phase and ended together. {@link
 * #reports} may be called from any thread; the rest belongs to the control thread.
 */
public final class WorkerGroup<W extends Worker> {
    private final List<W> workers = new CopyOnWriteArrayList<>();
    private final SessionChannels channels;
    private final ControlLoop loop;
    private final long controlTimeoutNanos;

    /** Creates a group without workers. */
    WorkerGroup(SessionChannels channels, ControlLoop loop, long controlTimeoutNanos) {
        this.channels = channels;
        this.loop = loop;
        this.controlTimeoutNanos = controlTimeoutNanos;
    }

    /** Adds a worker and starts it. */
    public W add(W worker) {
        workers.add(worker);
        worker.start();
        return worker;
    }

    /** The workers in the order of their indices. */
    public List<W> inOrder() {
        return workers;
    }

    /** The number of workers. */
    public int size() {
        return workers.size();
    }

    /** The sum of a counter over all workers. */
    public long sum(ToLongFunction<W> counter) {
        long sum = 0;
        for (W worker : workers) {
            sum += counter.applyAsLong(worker);
        }
        return sum;
    }

    /** The current report of each worker. */
    List<WorkerReport> reports() {
        return workers.stream().map(Worker::report).toList();
    }

    /**
     * Throws the failure of a worker, if there is one. If it is the loss of a peer, a received
     * error_response has priority, since the peer sent it before it released anything.
     */
    public void check() {
        for (W worker : workers) {
            DpuException reason = worker.failure();
            if (reason != null && reason.status() == Status.CONNECTION_RESET) {
                channels.requireNoError();
            }
            worker.throwFailure();
        }
    }

    /** The failures of workers, in the order of their indices. */
    List<DpuException> failures() {
        List<DpuException> failures = new ArrayList<>();
        for (W worker : workers) {
            DpuException reason = worker.failure();
            if (reason != null) {
                failures.add(reason);
            }
        }
        return failures;
    }

    /** Waits until all contexts of all workers are RUNNING. */
    public void awaitContextsReady(long timeoutNanos) {
        loop.awaitUntil(
                "starting the contexts",
                timeoutNanos,
                () -> all(worker -> worker.query(worker::areContextsReady)),
                () ->
                        workers.stream()
                                .map(worker -> worker.query(worker::contextsNotReady))
                                .filter(notReady -> !notReady.isEmpty())
                                .collect(Collectors.joining(" and ", ", notRunning=", "")));
    }

    /** Starts the data path of all workers and waits until it runs. */
    public void startDataPath(long timeoutNanos) {
        workers.forEach(Worker::startDataPath);
        loop.awaitUntil(
                "starting the data path", timeoutNanos, () -> all(Worker::hasDataPathBegun));
    }

    /** Stops the data path of all workers and waits until it has ended. */
    public void stopDataPath() {
        workers.forEach(Worker::stopDataPath);
        // A worker itself fails after the control timeout, with a more specific reason.
        loop.awaitUntil(
                "ending the data path",
                2 * controlTimeoutNanos,
                () -> all(Worker::hasDataPathEnded));
        check();
    }

    /** Stops the contexts of all workers and waits until they are idle. */
    public void stopContexts() {
        workers.forEach(worker -> worker.execute(worker::stopContexts));
        loop.awaitUntil(
                "stopping the contexts",
                2 * controlTimeoutNanos,
                () -> all(worker -> worker.query(worker::areContextsIdle)));
    }

    /**
     * Ends the workers, which close their objects, and waits until they have.
     *
     * @throws DpuException TIME_OUT; the failure of a peer or a worker
     */
    public void closeObjects() {
        workers.forEach(Worker::beginEnd);
        loop.awaitUntil(
                "closing the objects of the workers",
                2 * controlTimeoutNanos,
                () -> all(Worker::hasEnded));
        check();
    }

    /**
     * Ends the workers. Does not join their threads, since a consumer that stops needs progress of
     * the control thread's engine.
     *
     * @return false on a timeout: the resources of the workers cannot be released then
     */
    boolean end() {
        workers.forEach(Worker::beginEnd);
        return loop.awaitAnyway(3 * controlTimeoutNanos, () -> all(Worker::hasEnded));
    }

    private boolean all(Predicate<W> property) {
        for (W worker : workers) {
            if (!property.test(worker)) {
                return false;
            }
        }
        return true;
    }
}
