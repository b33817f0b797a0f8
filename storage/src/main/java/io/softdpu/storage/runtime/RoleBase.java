package io.softdpu.storage.runtime;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.StorageRole;
import io.softdpu.storage.WorkerReport;
import io.softdpu.storage.control.ControlChannel;
import io.softdpu.storage.control.Deadline;
import io.softdpu.storage.control.RemoteErrorException;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A session's life: run once, abort from anywhere, end with everything taken down. */
public abstract class RoleBase<W extends Worker> implements StorageRole {
    /** The end of a socket comes in milliseconds after that of the process. */
    private static final long WHO_WENT_AWAY_NANOS = 1_000_000_000L;

    private final System.Logger log;
    private final String role;
    private final SessionListener listener;

    /** How long each control operation may take. */
    protected final long controlTimeoutNanos;

    private final AtomicBoolean begun = new AtomicBoolean();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final List<ControlChannel> channels = new CopyOnWriteArrayList<>();
    private final List<W> workers = new CopyOnWriteArrayList<>();
    private volatile @Nullable String abortReason;
    private volatile @Nullable DpuException failure;
    private boolean conversationOver;
    private Deadline request = Deadline.in(ControlChannel.NO_TIMEOUT);
    private volatile long controlPayloadBytes;
    private volatile long controlMessageBytes;

    /** A role that has not begun. */
    protected RoleBase(String role, SessionListener listener, long controlTimeoutNanos) {
        this.role = role;
        this.listener = listener;
        this.controlTimeoutNanos = controlTimeoutNanos;
        this.log = System.getLogger("io.softdpu.storage." + role);
    }

    /** The session from its first step to its last. */
    protected abstract void session();

    /**
     * Takes down what the session and the constructor made, in the order of the guide; the workers
     * have ended. Must give back all it can even where a part of it fails.
     */
    protected abstract void releaseResources();

    /** Sleeps until something happens that this role listens to, or the time has passed. */
    protected abstract void awaitNews(long timeoutNanos);

    /**
     * Looks for the end of a peer and the like.
     *
     * @throws DpuException why the session cannot go on
     */
    protected abstract void checkPeers();

    @Override
    public final SessionReport run() {
        if (!begun.compareAndSet(false, true)) {
            throw new DpuException(Status.BAD_STATE, "session was run already: role=" + role);
        }
        try {
            try {
                session();
            } catch (RuntimeException | Error e) {
                giveUp(e);
            }
        } finally {
            try {
                takeDown();
            } finally {
                ended.countDown();
            }
        }
        DpuException reason = failure;
        if (reason != null) {
            throw reason;
        }
        return report();
    }

    @Override
    public final void abort(String reason) {
        synchronized (this) {
            if (abortReason == null) {
                abortReason = reason;
            }
        }
        channels.forEach(channel -> channel.abort(reason));
    }

    @Override
    public final SessionReport report() {
        DpuException reason = failure;
        List<WorkerReport> reports = workers.stream().map(Worker::report).toList();
        return new SessionReport(
                role,
                reason == null ? Status.SUCCESS : reason.status(),
                reason == null ? "" : String.valueOf(reason.getMessage()),
                reports,
                controlPayloadBytes,
                controlMessageBytes);
    }

    @Override
    public final void close() {
        if (begun.compareAndSet(false, true)) {
            try {
                takeDown();
            } finally {
                ended.countDown();
            }
            return;
        }
        if (ended.getCount() == 0) {
            return;
        }
        abort("Closed while it ran");
        try {
            if (!ended.await(8 * controlTimeoutNanos, TimeUnit.NANOSECONDS)) {
                throw new DpuException(Status.TIME_OUT, "session did not end: role=" + role);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DpuException(
                    Status.CONNECTION_ABORTED, "closing was interrupted: role=" + role, e);
        }
    }

    /** Has {@link #abort} reach this channel from now on. */
    protected final <C extends ControlChannel> C addChannel(C channel) {
        channels.add(channel);
        String reason = abortReason;
        if (reason != null) {
            channel.abort(reason);
        }
        return channel;
    }

    /** Starts a worker and takes charge of it. */
    protected final W addWorker(W worker) {
        workers.add(worker);
        worker.start();
        return worker;
    }

    /** The workers in the order of their cores. */
    protected final List<W> workers() {
        return workers;
    }

    /** Tells the listener and the log that a step begins. */
    protected final void step(SessionStep step, String detail) {
        log.log(
                System.Logger.Level.DEBUG,
                detail.isEmpty() ? step.toString() : step + ": " + detail);
        listener.step(step, detail);
    }

    /** Why somebody wants the session to end, or null. */
    protected final @Nullable String abortReason() {
        return abortReason;
    }

    /** The same resource, with a line in the log when its turn to be closed has come. */
    protected final @Nullable AutoCloseable noted(String what, @Nullable AutoCloseable resource) {
        return resource == null
                ? null
                : () -> {
                    log.log(System.Logger.Level.DEBUG, "closing: " + what);
                    resource.close();
                };
    }

    /** Notes what the control thread's engine has copied. */
    protected final void noteControlCopies(long payloadBytes, long messageBytes) {
        controlPayloadBytes = payloadBytes;
        controlMessageBytes = messageBytes;
    }

    /**
     * Waits until something holds, and looks after the peers and the workers meanwhile.
     *
     * @param what for the message
     * @throws DpuException TIME_OUT; why a peer or a worker failed
     */
    protected final void awaitUntil(String what, long timeoutNanos, BooleanSupplier condition) {
        awaitUntil(what, timeoutNanos, condition, () -> "");
    }

    /**
     * The same.
     *
     * @param wanting what did not come about, for the message: {@code ", key=value"}
     */
    private void awaitUntil(
            String what, long timeoutNanos, BooleanSupplier condition, Supplier<String> wanting) {
        Deadline deadline = Deadline.in(timeoutNanos);
        while (!condition.getAsBoolean()) {
            checkWorkers();
            checkPeers();
            if (deadline.hasPassed()) {
                throw new DpuException(
                        Status.TIME_OUT,
                        what
                                + " took too long: role="
                                + role
                                + ", waited_ms="
                                + timeoutNanos / 1_000_000
                                + wanting.get());
            }
            awaitNews(deadline.remainingNanos());
        }
    }

    /**
     * Throws why a worker failed, if one did. Where it was a peer's end, the peer's own word comes
     * first: it was sent before anything was taken down.
     */
    protected final void checkWorkers() {
        for (W worker : workers) {
            DpuException reason = worker.failure();
            if (reason != null && reason.status() == Status.CONNECTION_RESET) {
                channels.forEach(RoleBase::throwLastWord);
            }
            worker.throwFailure();
        }
    }

    /**
     * Throws what a peer that goes has said last, or that it has gone; nothing where it is there.
     */
    protected static void throwLastWord(ControlChannel channel) {
        for (ControlMessage message = channel.poll(); message != null; message = channel.poll()) {
            requireNoError(message);
        }
    }

    /** Throws a peer's error_response, which stands where a request or nothing was expected. */
    protected static void requireNoError(ControlMessage message) {
        if (message.payload() instanceof ControlPayload.ErrorResponse error) {
            throw new RemoteErrorException(error);
        }
    }

    /** The signs of life that all workers have seen of a peer, by one of their counters. */
    protected final long sum(ToLongFunction<W> counter) {
        long sum = 0;
        for (W worker : workers) {
            sum += counter.applyAsLong(worker);
        }
        return sum;
    }

    /**
     * Begins a step: all waiting that it does, on whomever, ends with the control timeout. So a
     * request that needs several others is bounded like one that needs none.
     */
    protected final void beginStep() {
        request = Deadline.in(controlTimeoutNanos);
    }

    /** What is left of the step's time, at least a nanosecond. */
    protected final long stepNanos() {
        return Math.clamp(request.remainingNanos(), 1, controlTimeoutNanos);
    }

    /** From here on the peers need not be told of a failure: the conversation is over. */
    protected final void endConversation() {
        conversationOver = true;
    }

    /** Waits until each worker's contexts can do data path work. */
    protected final void awaitContextsReady() {
        awaitUntil(
                "starting the contexts",
                stepNanos(),
                () -> all(worker -> worker.query(worker::areContextsReady)),
                () ->
                        workers.stream()
                                .map(worker -> worker.query(worker::contextsNotReady))
                                .filter(notReady -> !notReady.isEmpty())
                                .collect(Collectors.joining(" and ", ", not_running=", "")));
    }

    /** Has the workers begin their data path and waits until all have. */
    protected final void startDataPath() {
        workers.forEach(Worker::startDataPath);
        awaitUntil("starting the data path", stepNanos(), () -> all(Worker::hasDataPathBegun));
    }

    /** Has the workers end their data path and waits until all have. */
    protected final void stopDataPath() {
        workers.forEach(Worker::stopDataPath);
        // A worker itself gives up after the control timeout; its reason is better than ours.
        awaitUntil(
                "ending the data path",
                2 * controlTimeoutNanos,
                () -> all(Worker::hasDataPathEnded));
        checkWorkers();
    }

    /** Has the workers stop their contexts and waits until all are idle. */
    protected final void stopContexts() {
        workers.forEach(worker -> worker.execute(worker::stopContexts));
        awaitUntil(
                "stopping the contexts",
                2 * controlTimeoutNanos,
                () -> all(worker -> worker.query(worker::areContextsIdle)));
    }

    private boolean all(java.util.function.Predicate<W> property) {
        for (W worker : workers) {
            if (!property.test(worker)) {
                return false;
            }
        }
        return true;
    }

    /**
     * What a worker notices first of a peer's end is an operation that fails. Who has gone the
     * control channels know, a moment later: so they get that moment to say it.
     */
    private Throwable whoWentAway(Throwable symptom) {
        if (!(symptom instanceof DpuException known)
                || known.status() != Status.CONNECTION_RESET
                || workers.stream().noneMatch(worker -> isFailureOf(worker, known))) {
            return symptom;
        }
        Deadline deadline = Deadline.in(Math.min(controlTimeoutNanos, WHO_WENT_AWAY_NANOS));
        try {
            while (!deadline.hasPassed()) {
                checkPeersPastRequests();
                awaitNews(deadline.remainingNanos());
            }
        } catch (DpuException e) {
            if (e instanceof RemoteErrorException
                    || e.status() == Status.CONNECTION_RESET
                    || e.status() == Status.CONNECTION_ABORTED) {
                e.addSuppressed(symptom);
                return e;
            }
            symptom.addSuppressed(e);
        }
        return symptom;
    }

    /**
     * What was on its way when its sender went says nothing of that: its last word is behind it.
     */
    private void checkPeersPastRequests() {
        try {
            checkPeers();
        } catch (DpuException e) {
            if (e instanceof RemoteErrorException || e.status() != Status.UNEXPECTED) {
                throw e;
            }
            log.log(System.Logger.Level.DEBUG, "not answered any more", e);
        }
    }

    @SuppressWarnings("ReferenceEquality") // the failure itself, wrapped for this thread or not
    private static boolean isFailureOf(Worker worker, DpuException problem) {
        DpuException failure = worker.failure();
        return failure != null && (failure == problem || failure == problem.getCause());
    }

    /** Notes why the session failed, and tells the peers. Whatever goes wrong now is no reason. */
    private void giveUp(Throwable problem) {
        Throwable reason = problem;
        try {
            reason = lastWordOr(whoWentAway(problem));
        } catch (RuntimeException | Error e) {
            problem.addSuppressed(e);
        }
        failed(reason);
        try {
            sayWhy();
        } catch (RuntimeException | Error e) {
            reason.addSuppressed(e);
        }
    }

    private void takeDown() {
        try {
            endWorkers();
            releaseResources();
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    /**
     * Ends the workers. Not by joining: a consumer that stops needs the control thread's engine, so
     * this thread goes on listening until they are done.
     */
    private void endWorkers() {
        workers.forEach(Worker::beginEnd);
        Deadline deadline = Deadline.in(3 * controlTimeoutNanos);
        while (!all(Worker::hasEnded)) {
            if (deadline.hasPassed()) {
                throw new DpuException(
                        Status.TIME_OUT,
                        "worker did not end, what it uses is not given back: role=" + role);
            }
            awaitNews(deadline.remainingNanos());
        }
        // What went wrong while they were taken down would otherwise be known to nobody.
        for (W worker : workers) {
            DpuException reason = worker.failure();
            if (reason != null && !isKnown(reason)) {
                failed(reason);
            }
        }
    }

    /** Whether the session failed with this: a worker's failure is thrown with a cause. */
    private boolean isKnown(DpuException reason) {
        DpuException first = failure;
        return first != null
                && (reason.equals(first.getCause())
                        || Stream.of(first.getSuppressed())
                                .anyMatch(symptom ->
                                        reason.equals(symptom)
                                                || reason.equals(symptom.getCause())));
    }

    /**
     * What a peer has said last, where the session failed because it has gone: its own reason,
     * which may have come while this side was about to ask for something. Of the peer whose channel
     * failed, where one did: what another has said is no reason for that.
     */
    private Throwable lastWordOr(Throwable problem) {
        if (!(problem instanceof DpuException reason)
                || problem instanceof RemoteErrorException
                || !isPeersEnd(reason.status())) {
            return problem;
        }
        List<ControlChannel> failed =
                channels.stream().filter(channel -> channel.isFailure(reason)).toList();
        for (ControlChannel channel : failed.isEmpty() ? channels : failed) {
            try {
                throwLastWord(channel);
            } catch (RemoteErrorException word) {
                word.addSuppressed(problem);
                return word;
            } catch (DpuException gone) {
                // It has gone without a word, as is known already.
                log.log(System.Logger.Level.TRACE, "no last word", gone);
            }
        }
        return problem;
    }

    /**
     * Whether it may mean that a peer has gone; what it had exported is not found any more then.
     */
    private static boolean isPeersEnd(Status status) {
        return status == Status.CONNECTION_RESET
                || status == Status.NOT_CONNECTED
                || status == Status.NOT_FOUND;
    }

    /**
     * Tells the peers that are still there why this side gives up; a peer's own reason is passed on
     * as it came. Before anything is taken down, so that it arrives before the end of the rest.
     */
    private void sayWhy() {
        DpuException reason = failure;
        if (reason == null || conversationOver) {
            return;
        }
        ControlPayload.ErrorResponse word =
                reason instanceof RemoteErrorException remote
                        ? remote.response()
                        : ControlPayload.ErrorResponse.of(
                                reason.status(),
                                role + " gave the session up: reason=" + reason.getMessage());
        channels.forEach(channel -> channel.farewell(word));
    }

    private void failed(Throwable problem) {
        DpuException reason =
                problem instanceof DpuException known
                        ? known
                        : new DpuException(
                                Status.UNEXPECTED,
                                "session failed: role=" + role + ", reason=" + problem,
                                problem);
        DpuException first = failure;
        if (first == null) {
            failure = reason;
        } else {
            first.addSuppressed(reason);
        }
    }
}
