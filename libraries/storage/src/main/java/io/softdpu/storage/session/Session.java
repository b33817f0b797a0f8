package io.softdpu.storage.session;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.StorageRole;
import io.softdpu.storage.control.ControlChannel;
import io.softdpu.storage.control.ControlExchange;
import io.softdpu.storage.control.RemoteErrorException;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.worker.Worker;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the sessions of the roles: run once, aborted from any thread, ended with everything
 * taken down.
 */
public abstract class Session<W extends Worker> implements StorageRole {
    private final System.Logger log;
    private final String role;

    /** How long each control operation may take. */
    protected final long controlTimeoutNanos;

    private final AtomicBoolean begun = new AtomicBoolean();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final SessionSteps steps;
    private final SessionChannels channels = new SessionChannels();
    private final ControlLoop loop;
    private final WorkerGroup<W> workers;
    private final FailureAnalysis analysis;
    private volatile @Nullable DpuException failure;
    private boolean conversationOver;
    private volatile long controlPayloadBytes;
    private volatile long controlMessageBytes;

    /** A session that has not begun. */
    protected Session(String role, SessionListener listener, long controlTimeoutNanos) {
        this.role = role;
        this.controlTimeoutNanos = controlTimeoutNanos;
        this.log = System.getLogger("io.softdpu.storage." + role);
        this.steps = new SessionSteps(log, listener, controlTimeoutNanos);
        this.loop = new ControlLoop(role, this::awaitNews, this::check);
        this.workers = new WorkerGroup<>(channels, loop, controlTimeoutNanos);
        this.analysis =
                new FailureAnalysis(
                        log, channels, workers, loop, this::checkPeers, controlTimeoutNanos);
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

    private void check() {
        workers.check();
        checkPeers();
    }

    @Override
    public final SessionReport run() {
        if (!begun.compareAndSet(false, true)) {
            throw new DpuException(Status.BAD_STATE, "session was run already: role=" + role);
        }
        try {
            try {
                session();
            } catch (RuntimeException | Error e) {
                fail(e);
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
        channels.abort(reason);
    }

    @Override
    public final SessionReport report() {
        DpuException reason = failure;
        return new SessionReport(
                role,
                reason == null ? Status.SUCCESS : reason.status(),
                reason == null ? "" : String.valueOf(reason.getMessage()),
                workers.reports(),
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

    /** The steps. */
    public final SessionSteps steps() {
        return steps;
    }

    /** The waiting of the control thread. */
    public final ControlLoop loop() {
        return loop;
    }

    /** The workers. */
    public final WorkerGroup<W> workers() {
        return workers;
    }

    /**
     * The requests of this role's client.
     *
     * @param exchange the channel to the client
     * @param patience limits the wait for each request, of which it is told the expected type
     * @param begin told of each step when its request has come, before it is handled
     */
    public final ClientRequests clientRequests(
            ControlExchange exchange,
            Function<ControlMessageType, ClientRequests.Patience> patience,
            BiConsumer<SessionStep, ControlMessage> begin) {
        return new ClientRequests(exchange, loop, workers, controlTimeoutNanos, patience, begin);
    }

    /**
     * Refuses what a peer says by itself, where it speaks only when it is asked.
     *
     * @param what such a message would be: the beginning of the error
     * @throws DpuException the peer's own reason, where it gives one; UNEXPECTED that names what
     *     came; why the channel failed
     */
    protected static void requireNoMessage(ControlChannel channel, String what) {
        ControlMessage message = channel.poll();
        if (message != null) {
            RemoteErrorException.throwIfError(message);
            throw new DpuException(
                    Status.UNEXPECTED,
                    what + ": got=" + message.type().wireName() + ", expected=none");
        }
    }

    /**
     * Says where a session was when this side was aborted.
     *
     * @return the exception to throw; a peer's own word and other reasons as they came
     */
    protected static DpuException aborted(DpuException e, String where) {
        return e.status() == Status.CONNECTION_ABORTED && !(e instanceof RemoteErrorException)
                ? new DpuException(e.status(), where + ": reason=" + e.getMessage(), e)
                : e;
    }

    /** From here on the peers need not be told of a failure: the conversation is over. */
    public final void endConversation() {
        conversationOver = true;
    }

    /** Has {@link #abort} reach this channel from now on. */
    protected final <C extends ControlChannel> C addChannel(C channel) {
        channels.add(channel);
        return channel;
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

    /** Notes why the session failed, and tells the peers. Whatever goes wrong now is no reason. */
    private void fail(Throwable problem) {
        Throwable reason = problem;
        try {
            reason = analysis.reasonOf(problem);
        } catch (RuntimeException | Error e) {
            problem.addSuppressed(e);
        }
        noteFailure(reason);
        try {
            notifyPeers();
        } catch (RuntimeException | Error e) {
            reason.addSuppressed(e);
        }
    }

    /**
     * Tells the peers that are still there why this side gives up; a peer's own reason is passed on
     * as it came. Before anything is taken down, so that it arrives before the end of the rest.
     */
    private void notifyPeers() {
        DpuException reason = failure;
        if (reason == null || conversationOver) {
            return;
        }
        channels.farewell(
                reason instanceof RemoteErrorException remote
                        ? remote.response()
                        : ControlPayload.ErrorResponse.of(
                                reason.status(),
                                role + " gave the session up: reason=" + reason.getMessage()));
    }

    private void takeDown() {
        try {
            endWorkers();
            releaseResources();
        } catch (RuntimeException | Error e) {
            noteFailure(e);
        }
    }

    private void endWorkers() {
        if (!workers.end()) {
            throw new DpuException(
                    Status.TIME_OUT,
                    "worker did not end, what it uses is not given back: role=" + role);
        }
        // What went wrong while they were taken down would otherwise be known to nobody.
        for (DpuException reason : workers.failures()) {
            DpuException first = failure;
            if (first == null || !FailureAnalysis.contains(first, reason)) {
                noteFailure(reason);
            }
        }
    }

    private void noteFailure(Throwable problem) {
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
