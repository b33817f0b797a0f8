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
 * The workers of a session, one per core: started, led from phase to phase and ended together.
 * {@link #reports} may come from any thread; the rest belongs to the control thread.
 */
public final class WorkerGroup<W extends Worker> {
    private final List<W> workers = new CopyOnWriteArrayList<>();
    private final SessionChannels channels;
    private final ControlLoop loop;
    private final long controlTimeoutNanos;

    /** A group without workers. */
    WorkerGroup(SessionChannels channels, ControlLoop loop, long controlTimeoutNanos) {
        this.channels = channels;
        this.loop = loop;
        this.controlTimeoutNanos = controlTimeoutNanos;
    }

    /** Starts a worker and takes charge of it. */
    public W add(W worker) {
        workers.add(worker);
        worker.start();
        return worker;
    }

    /** The workers in the order of their cores. */
    public List<W> inOrder() {
        return workers;
    }

    /** How many there are. */
    public int size() {
        return workers.size();
    }

    /** The signs of life that all workers have seen of a peer, by one of their counters. */
    public long sum(ToLongFunction<W> counter) {
        long sum = 0;
        for (W worker : workers) {
            sum += counter.applyAsLong(worker);
        }
        return sum;
    }

    /** What each has done so far. */
    List<WorkerReport> reports() {
        return workers.stream().map(Worker::report).toList();
    }

    /**
     * Throws why a worker failed, if one did. Where it was a peer's end, the peer's own word comes
     * first: it was sent before anything was taken down.
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

    /** Why workers failed, in the order of their cores. */
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

    /** Waits until each worker's contexts can do data path work. */
    public void awaitContextsReady(long timeoutNanos) {
        loop.awaitUntil(
                "starting the contexts",
                timeoutNanos,
                () -> all(worker -> worker.query(worker::areContextsReady)),
                () ->
                        workers.stream()
                                .map(worker -> worker.query(worker::contextsNotReady))
                                .filter(notReady -> !notReady.isEmpty())
                                .collect(Collectors.joining(" and ", ", not_running=", "")));
    }

    /** Has the workers begin their data path and waits until all have. */
    public void startDataPath(long timeoutNanos) {
        workers.forEach(Worker::startDataPath);
        loop.awaitUntil(
                "starting the data path", timeoutNanos, () -> all(Worker::hasDataPathBegun));
    }

    /** Has the workers end their data path and waits until all have. */
    public void stopDataPath() {
        workers.forEach(Worker::stopDataPath);
        // A worker itself gives up after the control timeout; its reason is better than ours.
        loop.awaitUntil(
                "ending the data path",
                2 * controlTimeoutNanos,
                () -> all(Worker::hasDataPathEnded));
        check();
    }

    /** Has the workers stop their contexts and waits until all are idle. */
    public void stopContexts() {
        workers.forEach(worker -> worker.execute(worker::stopContexts));
        loop.awaitUntil(
                "stopping the contexts",
                2 * controlTimeoutNanos,
                () -> all(worker -> worker.query(worker::areContextsIdle)));
    }

    /**
     * Ends the workers. Not by joining: a consumer that stops needs the control thread's engine, so
     * this thread goes on listening until they are done.
     *
     * @return false if that took too long: what they use cannot be given back then
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
