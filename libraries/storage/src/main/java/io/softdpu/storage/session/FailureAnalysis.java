package io.softdpu.storage.session;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.storage.control.ControlChannel;
import io.softdpu.storage.control.RemoteErrorException;
import java.time.Duration;
import java.util.stream.Stream;

/**
 * Finds the root cause of a session's failure. The end of a peer is often noticed first as a
 * symptom: a failed operation of a worker, or a request that could not be sent. Belongs to the
 * control thread.
 */
final class FailureAnalysis {
    /**
     * Wait for the end of a peer's channel, which follows that of its process within milliseconds.
     */
    private static final long LOST_PEER_NANOS = 1_000_000_000L;

    private final System.Logger log;
    private final SessionChannels channels;
    private final WorkerGroup<?> workers;
    private final ControlLoop loop;
    private final Runnable checkPeers;
    private final long controlTimeoutNanos;

    /**
     * Creates the analysis of a session.
     *
     * @param checkPeers throws if a peer has failed
     */
    FailureAnalysis(
            System.Logger log,
            SessionChannels channels,
            WorkerGroup<?> workers,
            ControlLoop loop,
            Runnable checkPeers,
            long controlTimeoutNanos) {
        this.log = log;
        this.channels = channels;
        this.workers = workers;
        this.loop = loop;
        this.checkPeers = checkPeers;
        this.controlTimeoutNanos = controlTimeoutNanos;
    }

    /** The root cause of a problem, with the problem suppressed in it; else the problem itself. */
    Throwable rootCauseOf(Throwable problem) {
        return peerErrorOr(lostPeerOr(problem));
    }

    /**
     * The loss of a peer behind a worker's failure. A worker notices it as a failed operation; the
     * control channels tell which peer was lost, shortly afterwards, so this waits for them.
     */
    private Throwable lostPeerOr(Throwable symptom) {
        if (!(symptom instanceof DpuException known)
                || known.status() != Status.CONNECTION_RESET
                || workers.failures().stream().noneMatch(failure -> isSame(failure, known))) {
            return symptom;
        }
        Deadline deadline =
                Deadline.in(Duration.ofNanos(Math.min(controlTimeoutNanos, LOST_PEER_NANOS)));
        try {
            while (!deadline.hasPassed()) {
                checkPeersPastRequests();
                loop.awaitEvent(deadline.remaining());
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
     * Checks the peers, skipping requests that were in flight when their sender ended: its final
     * error follows them.
     */
    private void checkPeersPastRequests() {
        try {
            checkPeers.run();
        } catch (DpuException e) {
            if (e instanceof RemoteErrorException || e.status() != Status.UNEXPECTED) {
                throw e;
            }
            log.log(System.Logger.Level.DEBUG, "request ignored after the failure", e);
        }
    }

    @SuppressWarnings("ReferenceEquality") // the failure itself, or wrapped for this thread
    private static boolean isSame(DpuException failure, DpuException problem) {
        return failure == problem || failure == problem.getCause();
    }

    /**
     * The final error of a lost peer, which may have been received while this side was about to
     * send a request. If a channel has failed, only its peer's error counts, since that of another
     * peer is not the cause.
     */
    private Throwable peerErrorOr(Throwable problem) {
        if (!(problem instanceof DpuException reason)
                || problem instanceof RemoteErrorException
                || !mayBePeerLoss(reason.status())) {
            return problem;
        }
        for (ControlChannel channel : channels.failedWith(reason)) {
            try {
                channel.requireNoError();
            } catch (RemoteErrorException peerError) {
                peerError.addSuppressed(problem);
                return peerError;
            } catch (DpuException gone) {
                // It has ended without a final error.
                log.log(System.Logger.Level.TRACE, "no final error of the peer", gone);
            }
        }
        return problem;
    }

    /** Whether a status may be caused by the loss of a peer; its exports are not found then. */
    private static boolean mayBePeerLoss(Status status) {
        return status == Status.CONNECTION_RESET
                || status == Status.NOT_CONNECTED
                || status == Status.NOT_FOUND;
    }

    /**
     * Whether a session's failure contains a worker's failure as cause or suppressed exception.
     *
     * @param failure of the session
     * @param reason of the worker
     */
    static boolean contains(DpuException failure, DpuException reason) {
        return reason.equals(failure.getCause())
                || Stream.of(failure.getSuppressed())
                        .anyMatch(symptom ->
                                reason.equals(symptom) || reason.equals(symptom.getCause()));
    }
}
