package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.wire.ControlCodec;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The listening end of a TCP channel. It takes one client, the first that sends a whole message
 * with which a session begins; each further one gets an error_response with FULL and is cut off.
 *
 * <p>To connect is not enough: anybody can, and keep silent. A client says hello, or asks. Until
 * one has, {@link #MAX_NEWCOMERS} are listened to, each for a limited time. Who sends anything else
 * is told so and cut off; who goes is forgotten. Nothing of this waits for any of them.
 */
public final class TcpServerControlChannel extends TcpControlChannel {
    /** Clients that may be here and have said nothing; the oldest makes room for a new one. */
    static final int MAX_NEWCOMERS = 64;

    /** Clients let in at one look, so that a flood does not keep those from being heard. */
    private static final int ACCEPTS_AT_ONCE = 8;

    /** How long nobody is let in after that has failed: who knocks would wake for ever. */
    private static final long PAUSE_NANOS = 1_000_000_000L;

    /** Refusals that are told to everybody; further ones to who looks for them, or they flood. */
    private static final int TOLD_REFUSALS = 100;

    private static final System.Logger LOG =
            System.getLogger(TcpServerControlChannel.class.getName());

    private final TcpDoor door;
    private final InetSocketAddress address;
    private final long firstMessageTimeoutNanos;

    /** In the order of their coming, and so of their deadlines. Empty once there is a client. */
    private final ArrayDeque<TcpNewcomer> newcomers = new ArrayDeque<>();

    private @Nullable Deadline pause;
    private String peer = "";
    private int refusals;

    TcpServerControlChannel(
            TcpDoor door,
            InetSocketAddress address,
            Selector selector,
            long firstMessageTimeoutNanos) {
        super(selector);
        this.door = door;
        this.address = address;
        this.firstMessageTimeoutNanos = firstMessageTimeoutNanos;
    }

    /** Where it listens, with the real port where any was asked for. */
    public InetSocketAddress address() {
        return address;
    }

    @Override
    public String description() {
        return peer.isEmpty() ? "client of tcp://" + ControlChannels.text(address) : peer;
    }

    @Override
    void pumpConnection() throws IOException {
        letIn();
        if (!newcomers.isEmpty()) {
            for (TcpNewcomer newcomer : newcomers.toArray(new TcpNewcomer[0])) {
                if (socket() == null) {
                    hear(newcomer);
                }
            }
        }
    }

    @Override
    void awaitTransport(long timeoutNanos) {
        TcpNewcomer oldest = newcomers.peekFirst();
        long longest = oldest == null ? timeoutNanos : oldest.remainingNanos();
        if (pause != null) {
            longest = Math.min(longest, pause.remainingNanos());
        }
        super.awaitTransport(Math.min(timeoutNanos, longest));
    }

    @Override
    DpuException notConnectedInTime(long waitedNanos) {
        return new DpuException(
                Status.TIME_OUT,
                "no client came: at="
                        + ControlChannels.text(address)
                        + ", waited_ms="
                        + waitedNanos / 1_000_000
                        + ", silent="
                        + newcomers.size());
    }

    @Override
    void closeTransport() {
        newcomers.forEach(newcomer -> closeQuietly(newcomer.socket()));
        newcomers.clear();
        door.close();
        super.closeTransport();
    }

    private void letIn() throws IOException {
        if (pause != null && pause.hasPassed()) {
            pause = null;
            door.wakes(true);
        }
        for (int i = 0; i < ACCEPTS_AT_ONCE && pause == null && door.isKnockedAt(); i++) {
            SocketChannel arrived = accept();
            if (arrived == null) {
                break; // what was closed for it is free only when the selector has been asked
            }
            welcome(arrived);
        }
    }

    /** Null where it has gone, or cannot be let in: no reason to lose who is here. */
    private @Nullable SocketChannel accept() {
        try {
            return door.accept();
        } catch (IOException e) {
            if (socket() == null && !newcomers.isEmpty()) {
                hear(newcomers.getFirst()); // it may have spoken meanwhile
            }
            if (socket() == null && !newcomers.isEmpty()) {
                // For want of descriptors, likely: one that is silent gives its own.
                refuse(newcomers.getFirst(), Status.FULL, "client cannot be kept: reason=" + e);
            } else if (socket() == null) {
                fail(
                        new DpuException(
                                Status.OPERATING_SYSTEM,
                                "client cannot be accepted: at="
                                        + ControlChannels.text(address)
                                        + ", reason="
                                        + e,
                                e));
            } else {
                LOG.log(System.Logger.Level.WARNING, "no further client is heard for now", e);
                pause = Deadline.in(PAUSE_NANOS);
                door.wakes(false);
            }
            return null;
        }
    }

    private void welcome(SocketChannel arrived) {
        if (socket() == null && newcomers.size() >= MAX_NEWCOMERS) {
            makeRoom();
        }
        try {
            if (socket() == null) {
                newcomers.addLast(TcpNewcomer.of(arrived, selector, firstMessageTimeoutNanos));
            } else {
                arrived.configureBlocking(false);
                refuse(arrived, TcpNewcomer.nameOf(arrived), servingAnother());
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "client has gone already", e);
            closeQuietly(arrived);
        }
    }

    /** The oldest goes, unless it has spoken since it was heard last. */
    private void makeRoom() {
        hear(newcomers.getFirst());
        if (newcomers.size() >= MAX_NEWCOMERS) {
            refuse(
                    newcomers.getFirst(),
                    Status.FULL,
                    "client has said nothing and others came: expected=a control message, limit="
                            + MAX_NEWCOMERS);
        }
    }

    private void hear(TcpNewcomer newcomer) {
        ControlMessage first;
        try {
            first = newcomer.read(incoming);
        } catch (DpuException e) {
            refuse(newcomer, e.status(), String.valueOf(e.getMessage()));
            return;
        } catch (IOException e) {
            forget(newcomer, e);
            return;
        }
        if (first != null) {
            hear(newcomer, first);
        } else if (newcomer.remainingNanos() == 0) {
            refuse(
                    newcomer,
                    Status.TIME_OUT,
                    "client has said nothing: expected=a control message, waited_ms="
                            + firstMessageTimeoutNanos / 1_000_000);
        }
    }

    /** With anything else no session begins, whoever sends it. */
    private void hear(TcpNewcomer newcomer, ControlMessage first) {
        if (first.type() == ControlMessageType.HELLO
                || first.type() == ControlMessageType.QUERY_STORAGE_REQUEST) {
            choose(newcomer, first);
        } else {
            refuse(
                    newcomer,
                    Status.UNEXPECTED,
                    "control message is not the expected one: field=type, got="
                            + first.type().wireName()
                            + ", expected="
                            + ControlMessageType.HELLO.wireName()
                            + " or "
                            + ControlMessageType.QUERY_STORAGE_REQUEST.wireName());
        }
    }

    private void choose(TcpNewcomer chosen, ControlMessage first) {
        try {
            connected(chosen.socket());
        } catch (IOException e) {
            forget(chosen, e);
            return;
        }
        newcomers.remove(chosen);
        peer = chosen.name();
        if (!(first.payload() instanceof ControlPayload.Hello)) {
            receivedFirst(first);
        }
        while (!newcomers.isEmpty()) {
            TcpNewcomer late = newcomers.removeFirst();
            refuse(late.socket(), late.name(), servingAnother());
        }
    }

    private void forget(TcpNewcomer newcomer, IOException reason) {
        LOG.log(System.Logger.Level.DEBUG, "client went: client=" + newcomer.name(), reason);
        newcomers.remove(newcomer);
        closeQuietly(newcomer.socket());
    }

    private ControlPayload.ErrorResponse servingAnother() {
        return ControlPayload.ErrorResponse.of(
                Status.FULL, "storage target serves another client: client=" + description());
    }

    private void refuse(TcpNewcomer newcomer, Status status, String reason) {
        newcomers.remove(newcomer);
        refuse(newcomer.socket(), newcomer.name(), ControlPayload.ErrorResponse.of(status, reason));
    }

    private void refuse(SocketChannel unwanted, String name, ControlPayload.ErrorResponse reason) {
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
            closeQuietly(unwanted);
        }
    }
}
