package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelTerms;
import io.softdpu.comch.wire.Hello;
import io.softdpu.comch.wire.Welcome;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.spi.Failures;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.handshake.Import;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The {@link ComchClient} context. */
final class ClientContext extends EndpointContext<ComchClient> implements ComchClient {
    private static final long RETRY_NANOS = 20_000_000L;

    private final String busName;
    private long connectTimeoutNanos = DEFAULT_CONNECT_TIMEOUT.toNanos();
    private @Nullable Attempt attempt;

    /** Starts the next attempt; cancelled when no attempt follows. */
    private @Nullable EngineTimer retryTimer;

    private @Nullable ComchConnection connection;

    /** Connection attempts between one start and the connection or the failure. */
    private static final class Attempt {
        private final long deadlineNanos;
        private @Nullable InboundRing inbound;
        private @Nullable Import<Attachment> connecting;
        private boolean abandoned;

        private Attempt(InboundRing inbound, long timeoutNanos) {
            this.inbound = inbound;
            this.deadlineNanos = System.nanoTime() + timeoutNanos;
        }

        /** Ends it. */
        private void abandon() {
            abandoned = true;
            if (connecting != null) {
                connecting.close();
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

    ClientContext(Device device, String serverName) {
        super(device, serverName);
        this.busName = ChannelName.ofClient(device.info(), serverName);
    }

    @Override
    public ComchClient setConnectTimeout(Duration timeout) {
        requireConfigurable();
        connectTimeoutNanos = Arguments.positiveNanos(timeout, "timeout");
        return this;
    }

    @Override
    public Duration connectTimeout() {
        return Duration.ofNanos(connectTimeoutNanos);
    }

    @Override
    public ComchConnection connection() {
        requireOwnerThread();
        ComchConnection established = connection;
        if (established == null || state() != ContextState.RUNNING) {
            throw notConnected();
        }
        return established;
    }

    private DpuException notConnected() {
        DpuException failed = failure();
        return new DpuException(
                Status.NOT_CONNECTED,
                Text.format(
                        "client is not connected: client=%s, state=%s%s, expected=%s",
                        this,
                        state(),
                        failed == null ? "" : ", failure=" + failed.status(),
                        ContextState.RUNNING),
                failed);
    }

    // ---- the context ----

    @Override
    void checkOwnConfiguration() {
        // Nothing beyond what each endpoint needs.
    }

    @Override
    ContextState begin() {
        EngineTimer timer =
                endpointServices().timer(this::attemptNow); // can fail, like the ring's allocation
        try {
            attempt =
                    new Attempt(
                            InboundRing.allocate(endpointServices().bus(), terms()),
                            connectTimeoutNanos);
        } catch (FabricException e) {
            throw Failures.of(e);
        }
        timer.set(Duration.ZERO); // the first attempt is made in progress, as the later ones are
        retryTimer = timer;
        return ContextState.STARTING;
    }

    @Override
    void endOwn() {
        if (retryTimer != null) {
            retryTimer.cancel();
            retryTimer = null;
        }
        Attempt current = attempt;
        if (current != null) {
            attempt = null;
            current.abandon();
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

    // ---- connecting ----

    private void attemptNow() {
        Attempt current = attempt;
        if (current != null && current.connecting == null) {
            connect(current);
        }
    }

    private void connect(Attempt current) {
        long leftNanos = Math.max(1, current.deadlineNanos - System.nanoTime());
        InboundRing inbound = current.inbound;
        try {
            if (inbound == null) { // the previous ring was shared with a server that ended
                inbound = InboundRing.allocate(endpointServices().bus(), terms());
                current.inbound = inbound;
            }
            String function = device().info().function().key();
            Import<Attachment> connecting =
                    endpointServices()
                            .bus()
                            .connect(
                                    busName,
                                    new Hello(terms(), function, serverName()).toBytes(),
                                    inbound.memory(),
                                    leftNanos);
            current.connecting = connecting;
            connecting.deliver(
                    this::post,
                    (attachment, failure) -> connectFinished(current, attachment, failure));
        } catch (FabricException e) {
            post(() -> connectFinished(current, null, e));
        }
    }

    /** An attempt has ended, with a connection or a failure. Inside progress. */
    private void connectFinished(
            Attempt of, @Nullable Attachment attachment, @Nullable Throwable failure) {
        if (of.abandoned || state() != ContextState.STARTING) {
            return; // stopped meanwhile: the end of the stop closes the attempt, or has done so
        }
        of.connecting = null;
        if (attachment != null) {
            welcomed(of, attachment);
        } else {
            refused(of, Objects.requireNonNull(failure, "either"));
        }
    }

    private void welcomed(Attempt of, Attachment attachment) {
        attempt = null;
        InboundRing inbound = Objects.requireNonNull(of.inbound, "was sent");
        ChannelTerms theirs;
        try {
            theirs = Welcome.decode(attachment.payload()).terms();
            if (theirs.maxMessageBytes() != maxMessageBytes()
                    || attachment.remote().sizeBytes() < theirs.ring().sizeBytes()) {
                throw new DpuException(
                        Status.INVALID_VALUE,
                        Text.format(
                                "server's welcome does not fit: maxMessageSizeBytes=%d, own=%d,"
                                        + " ringBytes=%d",
                                theirs.maxMessageBytes(),
                                maxMessageBytes(),
                                attachment.remote().sizeBytes()));
            }
        } catch (DpuException e) {
            endpointServices().bus().release(attachment);
            inbound.release();
            fatal(e);
            return;
        }
        ComchConnection established =
                new ComchConnection(
                        this,
                        endpointServices(),
                        device().info().function().key(),
                        ComchPeer.of(attachment.link().peerPid(), attachment.link().peerUid()));
        try {
            established(new Channel(established, attachment, inbound, theirs));
        } catch (RuntimeException e) {
            endpointServices().bus().release(attachment);
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
                            case NOT_FOUND ->
                                    true; // the ring was not shared with a server: keep it
                            case PEER_GONE -> { // a server that ended between two steps
                                of.release();
                                yield true;
                            }
                            default -> false;
                        };
        long leftNanos = of.deadlineNanos - System.nanoTime();
        if (retry && leftNanos > 0) {
            Duration pause = Duration.ofNanos(Math.min(RETRY_NANOS, leftNanos));
            Objects.requireNonNull(retryTimer, "made at start").set(pause);
            return;
        }
        attempt = null;
        of.release();
        DpuException reason = Failures.of(failure);
        fatal(
                new DpuException(
                        reason.status(),
                        Text.format(
                                "not connected: server=%s, function=%s, timeoutMillis=%d,"
                                        + " reason=%s%s",
                                serverName(),
                                device().info().function().key(),
                                connectTimeoutNanos / 1_000_000,
                                reason.getMessage(),
                                reason.status() == Status.NOT_FOUND
                                        ? ", served="
                                                + servedChannels()
                                                + ", expected=a server of this name,"
                                                + " started before the timeout"
                                        : ""),
                        reason));
    }

    /** The channels that processes of this folder serve, for a message. */
    private List<String> servedChannels() {
        try {
            return endpointServices().bus().servedNames(ChannelName.PREFIX).stream()
                    .map(name -> ForeignText.escapeAndCut(ChannelName.describe(name)))
                    .toList();
        } catch (FabricException e) {
            return List.of("unknown, " + Reason.of(e));
        }
    }
}
