package io.softdpu.storage.session;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.storage.control.ControlChannel;
import io.softdpu.storage.control.RemoteErrorException;
import java.util.stream.Stream;

/**
 * Finds why a session failed. What is noticed first of the end of a peer is often a symptom: an
 * operation of a worker, or a request that was about to be sent. Belongs to the control thread.
 */
final class FailureAnalysis {
    /** The end of a socket comes in milliseconds after that of the process. */
    private static final long LOST_PEER_NANOS = 1_000_000_000L;

    private final System.Logger log;
    private final SessionChannels channels;
    private final WorkerGroup<?> workers;
    private final ControlLoop loop;
    private final Runnable checkPeers;
    private final long controlTimeoutNanos;

    /**
     * The analysis for a session.
     *
     * @param checkPeers throws why the session cannot go on, where a peer is the reason
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

    /** The reason behind a problem, with the problem suppressed in it; else the problem itself. */
    Throwable reasonOf(Throwable problem) {
        return lastWordOr(lostPeerOr(problem));
    }

    /**
     * What a worker notices first of a peer's end is an operation that fails. Which peer has gone
     * the control channels know, a moment later: so they get that moment to say it.
     */
    private Throwable lostPeerOr(Throwable symptom) {
        if (!(symptom instanceof DpuException known)
                || known.status() != Status.CONNECTION_RESET
                || workers.failures().stream().noneMatch(failure -> isSame(failure, known))) {
            return symptom;
        }
        Deadline deadline = Deadline.in(Math.min(controlTimeoutNanos, LOST_PEER_NANOS));
        try {
            while (!deadline.hasPassed()) {
                checkPeersPastRequests();
                loop.awaitNews(deadline.remainingNanos());
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
            checkPeers.run();
        } catch (DpuException e) {
            if (e instanceof RemoteErrorException || e.status() != Status.UNEXPECTED) {
                throw e;
            }
            log.log(System.Logger.Level.DEBUG, "not answered any more", e);
        }
    }

    @SuppressWarnings("ReferenceEquality") // the failure itself, wrapped for this thread or not
    private static boolean isSame(DpuException failure, DpuException problem) {
        return failure == problem || failure == problem.getCause();
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
        for (ControlChannel channel : channels.concernedBy(reason)) {
            try {
                channel.requireNoError();
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
     * Whether a session's failure has a worker's failure in it: that is thrown with a cause.
     *
     * @param failure the session's
     * @param reason the worker's
     */
    static boolean contains(DpuException failure, DpuException reason) {
        return reason.equals(failure.getCause())
                || Stream.of(failure.getSuppressed())
                        .anyMatch(symptom ->
                                reason.equals(symptom) || reason.equals(symptom.getCause()));
    }
}
