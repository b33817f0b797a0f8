package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelTerms;
import io.softdpu.comch.wire.Hello;
import io.softdpu.comch.wire.Welcome;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.spi.Failures;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Attachment;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The {@link ComchClient} context. */
final class ClientContext extends EndpointContext implements ComchClient {
    private static final long DEFAULT_CONNECT_TIMEOUT_NANOS = 5_000_000_000L;
    private static final long RETRY_NANOS = 20_000_000L;

    private final String busName;
    private long connectTimeoutNanos = DEFAULT_CONNECT_TIMEOUT_NANOS;
    private @Nullable Attempt attempt;

    /** Makes the next attempt; cancelled when there will be none. */
    private @Nullable EngineTimer askTimer;

    private @Nullable ComchConnection connection;

    /** The attempts to connect of one start. */
    private static final class Attempt {
        private final long deadlineNanos;
        private @Nullable InboundRing inbound;
        private @Nullable Handover<Answer> asked;
        private @Nullable CompletableFuture<Attachment> connecting;

        private Attempt(InboundRing inbound, long timeoutNanos) {
            this.inbound = inbound;
            this.deadlineNanos = System.nanoTime() + timeoutNanos;
        }

        /** Gives the ring up, with what has come of asking; what still asks ends and does so. */
        private void abandon(Bus bus) {
            if (asked != null) {
                Answer come = asked.refuse();
                if (come == null) {
                    if (connecting != null) {
                        connecting.cancel(false);
                    }
                    return;
                }
                come.discard(bus);
            }
            release();
        }

        private void release() {
            if (inbound != null) {
                inbound.release();
                inbound = null;
            }
        }
    }

    /** What has come of asking once: one of the two. */
    private record Answer(@Nullable Attachment attachment, @Nullable Throwable failure) {
        void discard(Bus bus) {
            if (attachment != null) {
                bus.release(attachment);
            }
        }
    }

    ClientContext(Device device, String serverName) {
        super(device, serverName);
        this.busName = ChannelName.ofClient(device.info(), serverName);
    }

    @Override
    public void setConnectTimeout(long timeoutNanos) {
        requireConfigurable();
        requirePositive("connectTimeoutNanos", timeoutNanos);
        connectTimeoutNanos = timeoutNanos;
    }

    @Override
    public long connectTimeoutNanos() {
        return connectTimeoutNanos;
    }

    @Override
    public ComchConnection connection() {
        requireOwnerThread();
        ComchConnection established = connection;
        if (established == null || state() != ContextState.RUNNING) {
            throw new DpuException(
                    Status.NOT_CONNECTED,
                    "client is not connected: client=%s, state=%s".formatted(this, state()));
        }
        return established;
    }

    // ---- the context ----

    @Override
    void checkOwnConfiguration() {
        // Nothing beyond what each endpoint needs.
    }

    @Override
    ContextState begin() {
        EngineTimer timer = connectionServices().timer(this::askNow); // can fail, as the ring
        try {
            attempt =
                    new Attempt(
                            InboundRing.allocate(connectionServices().bus(), terms()),
                            connectTimeoutNanos);
        } catch (FabricException e) {
            throw Failures.of(e);
        }
        timer.set(0); // the first attempt is made in progress, as the later ones are
        askTimer = timer;
        return ContextState.STARTING;
    }

    @Override
    void endOwn() {
        if (askTimer != null) {
            askTimer.cancel();
            askTimer = null;
        }
        Attempt current = attempt;
        if (current != null) {
            attempt = null;
            current.abandon(connectionServices().bus());
        }
    }

    @Override
    void connectionEnded(ComchConnection ended, @Nullable DpuException failure) {
        connection = null;
        fatal(
                failure != null
                        ? failure
                        : new DpuException(
                                Status.CONNECTION_RESET,
                                "server ended the connection: server=" + serverName()));
    }

    @Override
    protected void onDestroy() {
        // Nothing: the memory was given up when the client stopped.
    }

    // ---- connecting ----

    private void askNow() {
        Attempt current = attempt;
        if (current != null && current.asked == null) {
            ask(current);
        }
    }

    private void ask(Attempt current) {
        Handover<Answer> asked = new Handover<>();
        current.asked = asked;
        long leftNanos = Math.max(1, current.deadlineNanos - System.nanoTime());
        CompletableFuture<Attachment> connecting;
        InboundRing inbound = current.inbound;
        try {
            if (inbound == null) { // the one before has been shown to a server that ended
                inbound = InboundRing.allocate(connectionServices().bus(), terms());
                current.inbound = inbound;
            }
            String function = device().info().function().key();
            connecting =
                    connectionServices()
                            .bus()
                            .connect(
                                    busName,
                                    new Hello(terms(), function, serverName()).toBytes(),
                                    inbound.memory(),
                                    leftNanos);
        } catch (FabricException e) {
            connecting = CompletableFuture.failedFuture(e);
        }
        current.connecting = connecting;
        InboundRing shown = inbound;
        var _ =
                connecting.whenComplete((attachment, failure) -> {
                    Answer answer = new Answer(attachment, failure);
                    if (asked.offer(answer)) {
                        post(() -> answered(current, asked, answer));
                    } else {
                        answer.discard(connectionServices().bus());
                        if (shown != null) {
                            shown.release();
                        }
                    }
                });
    }

    /** The server has answered, or there is none; inside progress. */
    private void answered(Attempt of, Handover<Answer> asked, Answer answer) {
        if (!asked.isWanted()) {
            return; // stopped meanwhile, and the answer was discarded then
        }
        of.asked = null;
        of.connecting = null;
        if (answer.attachment() != null) {
            welcomed(of, answer.attachment());
        } else {
            refused(of, Objects.requireNonNull(answer.failure(), "either"));
        }
    }

    private void welcomed(Attempt of, Attachment attachment) {
        attempt = null;
        InboundRing inbound = Objects.requireNonNull(of.inbound, "was sent");
        ChannelTerms theirs;
        try {
            theirs = Welcome.decode(attachment.payload()).terms();
            if (theirs.maxMessageBytes() != maxMessageSize()
                    || attachment.remote().sizeBytes() < theirs.ring().sizeBytes()) {
                throw new DpuException(
                        Status.INVALID_VALUE,
                        "server's welcome does not fit: maxMessageSize=%d, own=%d, ringBytes=%d"
                                .formatted(
                                        theirs.maxMessageBytes(),
                                        maxMessageSize(),
                                        attachment.remote().sizeBytes()));
            }
        } catch (DpuException e) {
            connectionServices().bus().release(attachment);
            inbound.release();
            fatal(e);
            return;
        }
        ComchConnection established =
                new ComchConnection(this, connectionServices(), device().info().function().key());
        try {
            established(new Channel(established, attachment, inbound, theirs));
        } catch (RuntimeException e) {
            connectionServices().bus().release(attachment);
            inbound.release();
            fatal(Failures.of(e));
            return;
        }
        connection = established;
        started();
    }

    private void refused(Attempt of, Throwable failure) {
        boolean retry =
                failure instanceof FabricException e
                        && switch (e.kind()) {
                            case NOT_FOUND -> true; // nobody has seen the ring: it is kept
                            case PEER_GONE -> { // a server that ended between two steps
                                of.release();
                                yield true;
                            }
                            default -> false;
                        };
        long leftNanos = of.deadlineNanos - System.nanoTime();
        if (retry && leftNanos > 0) {
            long pauseNanos = Math.min(RETRY_NANOS, leftNanos);
            Objects.requireNonNull(askTimer, "made at start").set(pauseNanos);
            return;
        }
        attempt = null;
        of.release();
        DpuException reason = Failures.of(failure);
        fatal(
                new DpuException(
                        reason.status(),
                        "not connected: server=%s, function=%s, timeout_ms=%d, %s"
                                .formatted(
                                        serverName(),
                                        device().info().function().key(),
                                        connectTimeoutNanos / 1_000_000,
                                        reason.getMessage()),
                        reason));
    }
}
