package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelTerms;
import io.softdpu.comch.wire.Hello;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.spi.Failures;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Endpoint;
import io.softdpu.fabric.handshake.EndpointListener;
import io.softdpu.fabric.handshake.PendingLink;
import io.softdpu.linux.text.Reason;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Clients of a server that wait for its next progress, from one start to the next stop. A mapping
 * worker of the bus checks a client's hello and allocates the ring if it may be accepted; the
 * server decides in progress (cc-044).
 *
 * <p>Bounded: at most as many clients wait as the server may have; further ones are refused.
 */
final class PendingClients implements EndpointListener {
    /** Decisions per pass of progress, so that a burst of clients does not delay the others. */
    private static final int DECISIONS_PER_PASS = 4;

    private final ServerContext server;
    private final ChannelTerms terms;
    private final int limit;
    private final ConcurrentLinkedQueue<ConnectRequest> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicInteger count = new AtomicInteger();
    private final EndpointServices services;
    private final Bus bus;
    private @Nullable Endpoint endpoint;
    private volatile boolean closed;

    /**
     * A client that waits: either its hello and a ring for it, or a failure; both a hello and a
     * failure if the hello is valid but not for this server, or there is no memory.
     */
    record ConnectRequest(
            PendingLink pending,
            @Nullable Hello hello,
            @Nullable InboundRing inbound,
            @Nullable DpuException failure) {
        ComchPeer peer() {
            return ComchPeer.of(pending.peerPid(), pending.peerUid());
        }

        void refuse(DpuException refusal) {
            if (inbound != null) {
                inbound.release();
            }
            pending.refuse(refusal.status().code(), String.valueOf(refusal.getMessage()));
        }
    }

    PendingClients(ServerContext server, EndpointServices services, ChannelTerms terms, int limit) {
        this.server = server;
        this.services = services;
        this.bus = services.bus();
        this.terms = terms;
        this.limit = limit;
    }

    /** Begins to serve the name; throws {@link FabricException} IN_USE if it is served already. */
    void listen(String name) {
        endpoint = bus.listen(name, this);
    }

    /** Releases the name and refuses the clients that still wait. */
    void close() {
        closed = true;
        Endpoint open = endpoint;
        if (open != null) {
            endpoint = null;
            open.close();
        }
        refuseAll();
    }

    /** Whether clients were checked and wait for the server's progress. Any thread. */
    boolean areWaiting() {
        return !waiting.isEmpty();
    }

    /** Their number; for tests. Any thread. */
    int size() {
        return waiting.size();
    }

    /** On the bus thread. */
    @Override
    public void arriving(PendingLink pending) {
        if (count.incrementAndGet() > limit) {
            count.decrementAndGet();
            pending.refuse(
                    Status.FULL.code(), "too many clients wait for the server: limit=" + limit);
            return;
        }
        bus.runForPeer(pending.peerPid(), () -> admit(pending));
    }

    /** On a mapping worker, since a ring is allocated. */
    private void admit(PendingLink pending) {
        ConnectRequest request;
        try {
            request = examine(pending);
        } catch (RuntimeException | Error e) { // a defect, which must not leave the client counted
            count.decrementAndGet();
            pending.refuse(Status.OPERATING_SYSTEM.code(), "server failed: cause=" + Reason.of(e));
            throw e;
        }
        waiting.add(request);
        if (closed) {
            refuseAll(); // close() may have run before the add, and missed it
        } else {
            services.wake();
        }
    }

    /**
     * Lets the server decide on the next clients that wait, until a callback stops it: those that
     * are left are refused when the stop goes on. In the server's progress.
     *
     * @return whether there was one
     */
    boolean decide() {
        boolean decided = false;
        for (int left = DECISIONS_PER_PASS;
                left > 0 && server.state() == ContextState.RUNNING;
                left--) {
            ConnectRequest request = take();
            if (request == null) {
                break;
            }
            server.decide(request);
            decided = true;
        }
        return decided;
    }

    private void refuseAll() {
        ConnectRequest request;
        while ((request = take()) != null) {
            request.refuse(
                    new DpuException(
                            Status.SHUTDOWN, "server is stopping: server=" + server.serverName()));
        }
    }

    private @Nullable ConnectRequest take() {
        ConnectRequest request = waiting.poll();
        if (request != null) {
            count.decrementAndGet();
        }
        return request;
    }

    private ConnectRequest examine(PendingLink pending) {
        Hello hello = null;
        try {
            hello = Hello.decode(pending.payload());
            DpuException mismatch = server.mismatch(hello, pending.remoteBytes());
            if (mismatch != null) { // before this process allocates anything for the client
                return new ConnectRequest(pending, hello, null, mismatch);
            }
            return new ConnectRequest(pending, hello, InboundRing.allocate(bus, terms), null);
        } catch (DpuException e) {
            return new ConnectRequest(pending, hello, null, e);
        } catch (FabricException e) {
            return new ConnectRequest(pending, hello, null, Failures.of(e));
        }
    }
}
