package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.DescriptorWatch;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.linux.Errno;
import io.softdpu.linux.LinuxException;
import io.softdpu.storage.wire.ControlCodec;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The listening end of a TCP channel. It takes one client, the first that sends a whole message
 * with which a session begins; each further one gets an error_response with FULL and is cut off.
 *
 * <p>To connect is not enough: anybody can, and keep silent. A client says hello, or asks. Until
 * one has, {@link #MAX_PENDING_CLIENTS} are listened to, each for a limited time. Who sends
 * anything else is told so and cut off; who goes is forgotten. Nothing of this waits for any of
 * them.
 */
public final class TcpServerControlChannel extends TcpControlChannel {
    /** Clients that may be here and have said nothing; the oldest makes room for a new one. */
    static final int MAX_PENDING_CLIENTS = 64;

    /** Clients let in at one look, so that a flood does not keep those from being heard. */
    private static final int ACCEPTS_AT_ONCE = 8;

    /** How long nobody is accepted after that has failed: the one pending would wake for ever. */
    private static final long PAUSE_NANOS = 1_000_000_000L;

    /** Refusals that are told to everybody; further ones to who looks for them, or they flood. */
    private static final int TOLD_REFUSALS = 100;

    private static final System.Logger LOG =
            System.getLogger(TcpServerControlChannel.class.getName());

    private final TcpListener listener;
    private final EngineWatch listenerWatch;
    private final long firstMessageTimeoutNanos;

    /** In the order of their coming, and so of their deadlines. Empty once there is a client. */
    private final ArrayDeque<PendingClient> pending = new ArrayDeque<>();

    private @Nullable Deadline pause;
    private String peer = "";
    private int refusals;

    TcpServerControlChannel(
            ProgressEngine engine, TcpListener listener, long firstMessageTimeoutNanos) {
        super(engine);
        this.listener = listener;
        this.listenerWatch = listener.watch(engine, this::ready);
        this.firstMessageTimeoutNanos = firstMessageTimeoutNanos;
    }

    /**
     * Begins to watch the listener.
     *
     * @throws DpuException OPERATING_SYSTEM if the system has no room for a further watch
     */
    void begin() {
        listenerWatch.setInterest(DescriptorWatch.READABLE);
    }

    /** The address that it listens at, with the real port where any was asked for. */
    public InetSocketAddress address() {
        return listener.address();
    }

    @Override
    public String description() {
        return peer.isEmpty() ? "client of tcp://" + ControlChannels.text(address()) : peer;
    }

    @Override
    void pumpConnection() {
        letIn();
        if (!pending.isEmpty()) {
            for (PendingClient client : pending.toArray(new PendingClient[0])) {
                if (stream() == null) {
                    hear(client);
                }
            }
        }
    }

    @Override
    long untilDeadlineNanos() {
        PendingClient oldest = pending.peekFirst();
        long left = oldest == null ? NO_TIMEOUT : oldest.remainingNanos();
        return pause == null ? left : Math.min(left, pause.remainingNanos());
    }

    @Override
    void stopWatching() {
        listenerWatch.end();
        pending.forEach(client -> client.stream().watch().end());
    }

    @Override
    DpuException notConnectedInTime(long waitedNanos) {
        return new DpuException(
                Status.TIME_OUT,
                "no client came: at="
                        + ControlChannels.text(address())
                        + ", waited_ms="
                        + waitedNanos / 1_000_000
                        + ", silent="
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

    private void letIn() {
        if (pause != null && pause.hasPassed()) {
            endPause();
        }
        for (int i = 0; i < ACCEPTS_AT_ONCE && pause == null && listener.hasPending(); i++) {
            int arrived = accept();
            if (arrived < 0) {
                break; // of those that are listened to one is enough to give its descriptor
            }
            welcome(arrived);
        }
    }

    /** Where that is not possible, the pause goes on: no reason to lose who is here. */
    private void endPause() {
        try {
            listenerWatch.setInterest(DescriptorWatch.READABLE);
            pause = null;
        } catch (DpuException e) {
            LOG.log(System.Logger.Level.DEBUG, "still no further client is heard", e);
            pause = Deadline.in(PAUSE_NANOS);
        }
    }

    /** Negative where it has gone, or cannot be let in: no reason to lose who is here. */
    private int accept() {
        try {
            return listener.accept();
        } catch (LinuxException e) {
            String reason = Errno.text(e.errno());
            PendingClient oldest = stream() == null ? pending.peekFirst() : null;
            if (oldest != null) {
                hear(oldest); // it may have spoken meanwhile, or gone
                if (pending.peekFirst() == oldest) {
                    // For want of descriptors, likely: one that is silent gives its own.
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
                LOG.log(System.Logger.Level.WARNING, "no further client is heard for now", e);
                pause = Deadline.in(PAUSE_NANOS);
                listenerWatch.end();
            }
            return -1;
        }
    }

    private void welcome(int socket) {
        TcpStream arrived = new TcpStream(engine, socket, this::ready);
        if (stream() == null && pending.size() >= MAX_PENDING_CLIENTS) {
            makeRoom();
        }
        try {
            if (stream() == null) {
                listenTo(arrived);
            } else {
                refuse(arrived, PendingClient.nameOf(arrived), servingAnother());
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "client has gone already", e);
            arrived.close();
        }
    }

    private void listenTo(TcpStream arrived) throws IOException {
        PendingClient client = PendingClient.of(arrived, firstMessageTimeoutNanos);
        pending.addLast(client);
        arrived.watch().onReady(() -> ready(client));
        try {
            arrived.watch().setInterest(DescriptorWatch.READABLE);
        } catch (DpuException e) {
            refuse(client, e.status(), "client cannot be kept: reason=" + e.getMessage());
        }
    }

    /** One of many that are listened to has sent something, or gone. */
    private void ready(PendingClient client) {
        if (stream() == null && !hasFailed()) {
            hear(client);
        }
        if (stream() != null || hasFailed()) {
            ready();
        }
    }

    /** The oldest goes, unless it has spoken since it was heard last. */
    private void makeRoom() {
        hear(pending.getFirst());
        if (pending.size() >= MAX_PENDING_CLIENTS) {
            refuse(
                    pending.getFirst(),
                    Status.FULL,
                    "client has said nothing and others came: expected=a control message, limit="
                            + MAX_PENDING_CLIENTS);
        }
    }

    private void hear(PendingClient client) {
        ControlMessage first;
        try {
            first = client.read(incoming);
        } catch (DpuException e) {
            refuse(client, e.status(), String.valueOf(e.getMessage()));
            return;
        } catch (IOException e) {
            forget(client, e);
            return;
        }
        if (first != null) {
            hear(client, first);
        } else if (client.remainingNanos() == 0) {
            refuse(
                    client,
                    Status.TIME_OUT,
                    "client has said nothing: expected=a control message, waited_ms="
                            + firstMessageTimeoutNanos / 1_000_000);
        }
    }

    /** With anything else no session begins, whoever sends it. */
    private void hear(PendingClient client, ControlMessage first) {
        if (first.type() == ControlMessageType.HELLO
                || first.type() == ControlMessageType.QUERY_STORAGE_REQUEST) {
            choose(client, first);
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

    private void choose(PendingClient chosen, ControlMessage first) {
        try {
            connected(chosen.stream());
        } catch (IOException e) {
            forget(chosen, e);
            return;
        }
        pending.remove(chosen);
        peer = chosen.name();
        if (!(first.payload() instanceof ControlPayload.Hello)) {
            receivedFirst(first);
        }
        while (!pending.isEmpty()) {
            PendingClient late = pending.removeFirst();
            refuse(late.stream(), late.name(), servingAnother());
        }
    }

    private void forget(PendingClient client, IOException reason) {
        LOG.log(System.Logger.Level.DEBUG, "client went: client=" + client.name(), reason);
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

    private void refuse(TcpStream unwanted, String name, ControlPayload.ErrorResponse reason) {
        LOG.log(
                refusals < TOLD_REFUSALS ? System.Logger.Level.INFO : System.Logger.Level.DEBUG,
                "client refused: client=" + name + ", reason=" + reason.message());
        refusals = Math.min(refusals + 1, TOLD_REFUSALS);
        byte[] word = ControlCodec.encode(new ControlMessage(0, 0, reason));
        try {
            // A fresh socket's buffer takes these few bytes; if not, the end of file must do.
            unwanted.write(ByteBuffer.wrap(word));
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "refused client has gone already", e);
        } finally {
            unwanted.close();
        }
    }
}
