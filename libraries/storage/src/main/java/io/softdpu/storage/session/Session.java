package io.softdpu.storage.session;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.linux.text.Reason;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCapabilities;
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
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the roles' sessions: runs once, can be aborted from any thread, and releases all
 * resources at its end.
 */
public abstract class Session<W extends Worker> implements StorageRole {
    private final System.Logger log;
    private final String role;

    /** Timeout of each control operation. */
    protected final long controlTimeoutNanos;

    private final AtomicBoolean started = new AtomicBoolean();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final SessionSteps steps;
    private final SessionChannels channels = new SessionChannels();
    private final ControlLoop loop;
    private final WorkerGroup<W> workers;
    private final FailureAnalysis analysis;
    private volatile @Nullable DpuException failure;
    private boolean controlDialogueEnded;
    private volatile long controlPayloadBytes;
    private volatile long controlMessageBytes;

    /** Creates a session that has not begun. */
    protected Session(String role, SessionListener listener, long controlTimeoutNanos) {
        this.role = role;
        this.controlTimeoutNanos = controlTimeoutNanos;
        this.log = loggerOf(role);
        this.steps = new SessionSteps(log, listener, controlTimeoutNanos);
        this.loop = new ControlLoop(role, this::awaitEvent, this::check);
        this.workers = new WorkerGroup<>(channels, loop, controlTimeoutNanos);
        this.analysis =
                new FailureAnalysis(
                        log, channels, workers, loop, this::checkPeers, controlTimeoutNanos);
    }

    /**
     * Opens the device of a role, and logs it.
     *
     * @throws DpuException NOT_FOUND, listing the devices, for an unknown one
     */
    protected static Device openDevice(String role, Machine machine, String id) {
        loggerOf(role).log(System.Logger.Level.INFO, "Open doca_dev: " + id);
        return machine.findDevice(id).open();
    }

    /**
     * Opens the representor of a role, and logs it.
     *
     * @throws DpuException NOT_FOUND, listing those of the device, for an unknown one
     */
    protected static Representor openRepresentor(String role, Device device, String id) {
        loggerOf(role).log(System.Logger.Level.INFO, "Open doca_dev_rep: " + id);
        return device.findRepresentor(id).open();
    }

    /**
     * Checks that an RDMA provider serves the device, before a peer waits for it.
     *
     * @param provider {@link Rdma#ANY_PROVIDER} for none in particular
     * @throws DpuException NOT_FOUND, naming those that do
     */
    protected static void requireProvider(Device device, String provider) {
        RdmaCapabilities.requireProvider(device.info(), provider, "option=provider");
    }

    private static System.Logger loggerOf(String role) {
        return System.getLogger("io.softdpu.storage." + role);
    }

    /** Performs all steps of the session. */
    protected abstract void session();

    /**
     * Releases the resources of the session and of the constructor, in the order of the guide,
     * after the workers have ended. Must release as many as possible even if one of them fails.
     */
    protected abstract void releaseResources();

    /** Sleeps until an event of this role, or until the time has passed. */
    protected abstract void awaitEvent(Duration timeout);

    /**
     * Checks for the loss of a peer and for illegal messages.
     *
     * @throws DpuException the failure that ends the session
     */
    protected abstract void checkPeers();

    private void check() {
        workers.check();
        checkPeers();
    }

    @Override
    public final SessionReport run() {
        if (!started.compareAndSet(false, true)) {
            throw new DpuException(Status.BAD_STATE, "session was run already: role=" + role);
        }
        boolean interrupted = false;
        try {
            try {
                session();
            } catch (RuntimeException | Error e) {
                interrupted = Thread.interrupted(); // its peers are told, which takes waits
                fail(e);
            }
        } finally {
            try {
                tearDown();
            } finally {
                ended.countDown();
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
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
                reason == null ? "" : Reason.of(reason),
                workers.reports(),
                controlPayloadBytes,
                controlMessageBytes);
    }

    @Override
    public final void close() {
        if (started.compareAndSet(false, true)) {
            try {
                tearDown();
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

    /** The steps and their timeout. */
    public final SessionSteps steps() {
        return steps;
    }

    /** The wait loop of the control thread. */
    public final ControlLoop loop() {
        return loop;
    }

    /** The workers. */
    public final WorkerGroup<W> workers() {
        return workers;
    }

    /**
     * Creates the handling of the requests of this role's client.
     *
     * @param exchange the channel to the client
     * @param waitLimit creates the limit of the wait for a request of the expected type
     * @param begin called with each step and its received request, before the request is handled
     */
    public final ClientRequests clientRequests(
            ControlExchange exchange,
            Function<ControlMessageType, ClientRequests.WaitLimit> waitLimit,
            BiConsumer<SessionStep, ControlMessage> begin) {
        return new ClientRequests(exchange, loop, workers, controlTimeoutNanos, waitLimit, begin);
    }

    /**
     * Rejects messages of a peer that may only send replies.
     *
     * @param what beginning of the error for such a message
     * @throws DpuException the peer's error_response; UNEXPECTED, naming another message; the
     *     failure of the channel
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
     * Adds the place where a session was aborted to the failure.
     *
     * @return the exception to throw; a peer's error_response and other failures unchanged
     */
    protected static DpuException aborted(DpuException e, String where) {
        return e.status() == Status.CONNECTION_ABORTED && !(e instanceof RemoteErrorException)
                ? new DpuException(e.status(), where + ": reason=" + Reason.of(e), e)
                : e;
    }

    /** Marks the last control message as sent: peers are not notified of later failures. */
    public final void endControlDialogue() {
        controlDialogueEnded = true;
    }

    /** Adds a channel that {@link #abort} aborts. */
    protected final <C extends ControlChannel> C addChannel(C channel) {
        channels.add(channel);
        return channel;
    }

    /** Wraps a resource so that its close is logged. */
    protected final @Nullable AutoCloseable logged(String what, @Nullable AutoCloseable resource) {
        return resource == null
                ? null
                : () -> {
                    log.log(System.Logger.Level.DEBUG, "closing: " + what);
                    resource.close();
                };
    }

    /** Records the bytes that the control thread's engine has copied. */
    protected final void recordControlCopies(long payloadBytes, long messageBytes) {
        controlPayloadBytes = payloadBytes;
        controlMessageBytes = messageBytes;
    }

    /**
     * Records the failure of the session and notifies the peers. Further exceptions are suppressed
     * in it.
     */
    private void fail(Throwable problem) {
        Throwable reason = problem;
        try {
            reason = analysis.rootCauseOf(problem);
        } catch (RuntimeException | Error e) {
            problem.addSuppressed(e);
        }
        recordFailure(reason);
        try {
            notifyPeers();
        } catch (RuntimeException | Error e) {
            reason.addSuppressed(e);
        }
    }

    /**
     * Sends the failure to the connected peers; a peer's error_response is passed on verbatim.
     * Called before any resource is released, so that the error arrives before the connections end.
     */
    private void notifyPeers() {
        DpuException reason = failure;
        if (reason == null || controlDialogueEnded) {
            return;
        }
        channels.sendFinalError(
                reason instanceof RemoteErrorException remote
                        ? remote.response()
                        : ControlPayload.ErrorResponse.of(
                                reason.status(),
                                role + " ended the session: reason=" + Reason.of(reason)));
    }

    /** Ends in order, within deadlines, also on a thread that is interrupted. */
    private void tearDown() {
        boolean interrupted = Thread.interrupted();
        try {
            endWorkers();
            releaseResources();
        } catch (RuntimeException | Error e) {
            recordFailure(e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void endWorkers() {
        if (!workers.end()) {
            throw new DpuException(
                    Status.TIME_OUT,
                    "worker did not end, its resources are not released: role=" + role);
        }
        // Failures during the workers' end would be lost otherwise.
        for (DpuException reason : workers.failures()) {
            DpuException first = failure;
            if (first == null || !FailureAnalysis.contains(first, reason)) {
                recordFailure(reason);
            }
        }
    }

    private void recordFailure(Throwable problem) {
        DpuException reason =
                problem instanceof DpuException known
                        ? known
                        : new DpuException(
                                Status.UNEXPECTED,
                                "session failed: role=" + role + ", reason=" + Reason.of(problem),
                                problem);
        DpuException first = failure;
        if (first == null) {
            failure = reason;
        } else {
            first.addSuppressed(reason);
        }
    }
}
