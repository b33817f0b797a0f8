package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.DescriptorWatch;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.linux.Errno;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.text.Reason;
import io.softdpu.storage.wire.ControlCodec;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Server side of a TCP control channel. It selects one client, the first that sends a complete
 * message that begins a session; each further one gets an error_response with FULL and is
 * disconnected.
 *
 * <p>A connection alone does not select a client, since any process can connect and stay silent.
 * The first message has to be a hello or a query. Until a client is selected, up to {@link
 * #MAX_PENDING_CLIENTS} are pending, each for a limited time. A client that sends another message
 * gets an error_response and is disconnected; one that ends is dropped. The channel never blocks on
 * a pending client.
 */
public final class TcpServerControlChannel extends TcpControlChannel {
    /** Limit of pending clients; beyond it a new client replaces the oldest. */
    static final int MAX_PENDING_CLIENTS = 64;

    /** Clients accepted per pass, so that a flood does not delay reading from pending ones. */
    private static final int MAX_ACCEPTS_PER_PASS = 8;

    /** Pause after a failed accept: the pending connection would keep the engine from sleeping. */
    private static final Duration ACCEPT_PAUSE = Duration.ofSeconds(1);

    /** Refusals logged at INFO; further ones at DEBUG, so that they do not flood the log. */
    private static final int LOGGED_REFUSALS = 100;

    private static final System.Logger LOG =
            System.getLogger(TcpServerControlChannel.class.getName());

    private final TcpListener listener;
    private final EngineWatch listenerWatch;
    private final Duration firstMessageTimeout;

    /** Pending clients in the order of their deadlines; empty once a client is selected. */
    private final ArrayDeque<PendingClient> pending = new ArrayDeque<>();

    private @Nullable Deadline acceptPause;
    private String selectedName = "";
    private int refusals;

    TcpServerControlChannel(
            ProgressEngine engine, TcpListener listener, Duration firstMessageTimeout) {
        super(engine);
        this.listener = listener;
        this.listenerWatch = listener.watch(engine, this::ready);
        this.firstMessageTimeout = firstMessageTimeout;
    }

    /**
     * Begins to watch the listener.
     *
     * @throws DpuException OPERATING_SYSTEM if the system's limit of watches is reached
     */
    void begin() {
        listenerWatch.setInterest(DescriptorWatch.READABLE);
    }

    /** The address that it listens on, with the assigned port if it was 0. */
    public InetSocketAddress address() {
        return listener.address();
    }

    @Override
    public String description() {
        return selectedName.isEmpty()
                ? "client of tcp://" + ControlChannels.text(address())
                : selectedName;
    }

    @Override
    void pumpConnection() {
        acceptClients();
        if (!pending.isEmpty()) {
            for (PendingClient client : pending.toArray(new PendingClient[0])) {
                if (stream() == null) {
                    readFirstMessage(client);
                }
            }
        }
    }

    @Override
    long untilDeadlineNanos() {
        PendingClient oldest = pending.peekFirst();
        long left = oldest == null ? Long.MAX_VALUE : oldest.remainingNanos();
        return acceptPause == null ? left : Math.min(left, acceptPause.remaining().toNanos());
    }

    @Override
    void stopWatching() {
        listenerWatch.end();
        pending.forEach(client -> client.stream().watch().end());
    }

    @Override
    DpuException connectTimedOut(Duration waited) {
        return new DpuException(
                Status.TIME_OUT,
                "no client connected: at="
                        + ControlChannels.text(address())
                        + ", waitedMillis="
                        + waited.toMillis()
                        + ", pending="
                        + pending.size());
    }

    @Override
    void closeTransport() {
        pending.forEach(client -> client.stream().close());
        pending.clear();
        listenerWatch.end();
        listener.close();
        super.closeTransport();
    }

    private void acceptClients() {
        if (acceptPause != null && acceptPause.hasPassed()) {
            endAcceptPause();
        }
        for (int i = 0;
                i < MAX_ACCEPTS_PER_PASS && acceptPause == null && listener.hasPending();
                i++) {
            int accepted = accept();
            if (accepted < 0) {
                break; // one pending client per pass is dropped to free its descriptor
            }
            admit(accepted);
        }
    }

    /**
     * Resumes accepting; if that fails, the pause is extended, since the selected client is
     * unaffected.
     */
    private void endAcceptPause() {
        try {
            listenerWatch.setInterest(DescriptorWatch.READABLE);
            acceptPause = null;
        } catch (DpuException e) {
            LOG.log(System.Logger.Level.DEBUG, "accepting clients is still paused", e);
            acceptPause = Deadline.in(ACCEPT_PAUSE);
        }
    }

    /**
     * Accepts a connection; negative if there is none, or it failed, which does not affect the
     * selected client.
     */
    private int accept() {
        try {
            return listener.accept();
        } catch (LinuxException e) {
            String reason = Errno.text(e.errno());
            PendingClient oldest = stream() == null ? pending.peekFirst() : null;
            if (oldest != null) {
                readFirstMessage(oldest); // it may have sent its message meanwhile, or ended
                if (pending.peekFirst() == oldest) {
                    // Probably no descriptor is free: the oldest silent client is dropped for its
                    // own.
                    refuse(oldest, Status.FULL, "client cannot be kept: reason=" + reason);
                }
            } else if (stream() == null) {
                fail(
                        new DpuException(
                                Status.OPERATING_SYSTEM,
                                "client cannot be accepted: at="
                                        + ControlChannels.text(address())
                                        + ", reason="
                                        + reason,
                                e));
            } else {
                LOG.log(System.Logger.Level.WARNING, "accepting clients is paused", e);
                acceptPause = Deadline.in(ACCEPT_PAUSE);
                listenerWatch.end();
            }
            return -1;
        }
    }

    private void admit(int socket) {
        TcpStream accepted = new TcpStream(engine, socket, this::ready);
        if (stream() == null && pending.size() >= MAX_PENDING_CLIENTS) {
            evictOldest();
        }
        try {
            if (stream() == null) {
                addPending(accepted);
            } else {
                refuse(accepted, PendingClient.nameOf(accepted), servingAnother());
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "client has ended already", e);
            accepted.close();
        }
    }

    private void addPending(TcpStream accepted) throws IOException {
        PendingClient client = PendingClient.of(accepted, firstMessageTimeout);
        pending.addLast(client);
        accepted.watch().onReady(() -> ready(client));
        try {
            accepted.watch().setInterest(DescriptorWatch.READABLE);
        } catch (DpuException e) {
            refuse(client, e.status(), "client cannot be kept: reason=" + Reason.of(e));
        }
    }

    /** Callback for a pending client that has sent bytes, or ended. */
    private void ready(PendingClient client) {
        if (stream() == null && !hasFailed()) {
            readFirstMessage(client);
        }
        if (stream() != null || hasFailed()) {
            ready();
        }
    }

    /** Refuses the oldest pending client, unless its message is complete by now. */
    private void evictOldest() {
        readFirstMessage(pending.getFirst());
        if (pending.size() >= MAX_PENDING_CLIENTS) {
            refuse(
                    pending.getFirst(),
                    Status.FULL,
                    "client sent no message and others connected: expected=a control message,"
                            + " limit="
                            + MAX_PENDING_CLIENTS);
        }
    }

    private void readFirstMessage(PendingClient client) {
        ControlMessage first;
        try {
            first = client.read(incoming);
        } catch (DpuException e) {
            refuse(client, e.status(), Reason.of(e));
            return;
        } catch (IOException e) {
            drop(client, e);
            return;
        }
        if (first != null) {
            selectOrRefuse(client, first);
        } else if (client.remainingNanos() == 0) {
            refuse(
                    client,
                    Status.TIME_OUT,
                    "client sent no message: expected=a control message, waitedMillis="
                            + firstMessageTimeout.toMillis());
        }
    }

    /** Selects a client whose first message begins a session; refuses others. */
    private void selectOrRefuse(PendingClient client, ControlMessage first) {
        if (first.type() == ControlMessageType.HELLO
                || first.type() == ControlMessageType.QUERY_STORAGE_REQUEST) {
            select(client, first);
        } else {
            refuse(
                    client,
                    Status.UNEXPECTED,
                    "control message is not the expected one: field=type, got="
                            + first.type().wireName()
                            + ", expected="
                            + ControlMessageType.HELLO.wireName()
                            + " or "
                            + ControlMessageType.QUERY_STORAGE_REQUEST.wireName());
        }
    }

    private void select(PendingClient selected, ControlMessage first) {
        try {
            connected(selected.stream());
        } catch (IOException e) {
            drop(selected, e);
            return;
        }
        pending.remove(selected);
        selectedName = selected.name();
        if (!(first.payload() instanceof ControlPayload.Hello)) {
            receivedFirst(first);
        }
        while (!pending.isEmpty()) {
            PendingClient other = pending.removeFirst();
            refuse(other.stream(), other.name(), servingAnother());
        }
    }

    private void drop(PendingClient client, IOException reason) {
        LOG.log(System.Logger.Level.DEBUG, "client ended: client=" + client.name(), reason);
        pending.remove(client);
        client.stream().close();
    }

    private ControlPayload.ErrorResponse servingAnother() {
        return ControlPayload.ErrorResponse.of(
                Status.FULL, "storage target serves another client: client=" + description());
    }

    private void refuse(PendingClient client, Status status, String reason) {
        pending.remove(client);
        refuse(client.stream(), client.name(), ControlPayload.ErrorResponse.of(status, reason));
    }

    private void refuse(TcpStream rejected, String name, ControlPayload.ErrorResponse reason) {
        LOG.log(
                refusals < LOGGED_REFUSALS ? System.Logger.Level.INFO : System.Logger.Level.DEBUG,
                "client refused: client=" + name + ", reason=" + reason.message());
        refusals = Math.min(refusals + 1, LOGGED_REFUSALS);
        byte[] frame = ControlCodec.encode(new ControlMessage(0, 0, reason));
        try {
            // A new socket's buffer has space for these bytes; otherwise the peer only sees the end
            // of file.
            rejected.write(ByteBuffer.wrap(frame));
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "refused client has ended already", e);
        } finally {
            rejected.close();
        }
    }
}
