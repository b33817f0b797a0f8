package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelTerms;
import io.softdpu.comch.wire.Hello;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.spi.Failures;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Endpoint;
import io.softdpu.fabric.handshake.EndpointListener;
import io.softdpu.fabric.handshake.PendingLink;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The clients that have come to a server and wait for its next progress, from one start to the next
 * stop. A worker of the bus checks what a client says and allocates the ring for one that may be
 * taken; the decision is the server's, in progress (cc-044).
 *
 * <p>Bounded: a server that never progresses keeps at most as many waiting as it may have clients.
 */
final class ServerArrivals implements EndpointListener {
    private final ServerContext server;
    private final ChannelTerms terms;
    private final int limit;
    private final ConcurrentLinkedQueue<Arrival> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicInteger count = new AtomicInteger();
    private final EndpointServices services;
    private final Bus bus;
    private @Nullable Endpoint endpoint;
    private volatile boolean closed;

    /**
     * A client that waits: either its hello and a ring for it, or a failure; both a hello and a
     * failure if the hello is in order but not for this server, or there is no memory.
     */
    record Arrival(
            PendingLink pending,
            @Nullable Hello hello,
            @Nullable InboundRing inbound,
            @Nullable DpuException failure) {
        void refuse(DpuException refusal) {
            if (inbound != null) {
                inbound.release();
            }
            pending.refuse(refusal.status().code(), String.valueOf(refusal.getMessage()));
        }
    }

    ServerArrivals(ServerContext server, EndpointServices services, ChannelTerms terms, int limit) {
        this.server = server;
        this.services = services;
        this.bus = services.bus();
        this.terms = terms;
        this.limit = limit;
    }

    /** Begins to serve the name; {@link FabricException} IN_USE if it is served already. */
    void listen(String name) {
        endpoint = bus.listen(name, this);
    }

    /** Gives the name back and sends away who still waits. */
    void close() {
        closed = true;
        Endpoint open = endpoint;
        if (open != null) {
            endpoint = null;
            open.close();
        }
        sendAllAway();
    }

    /** Clients that have been examined and wait for the server's progress, for tests. */
    int examined() {
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
        Arrival arrival;
        try {
            arrival = examine(pending);
        } catch (RuntimeException | Error e) { // a defect, which must not keep the place taken
            count.decrementAndGet();
            pending.refuse(Status.OPERATING_SYSTEM.code(), "server failed: cause=" + e);
            throw e;
        }
        waiting.add(arrival);
        if (closed) {
            sendAllAway(); // the server stopped between the two lines above
        } else {
            services.post(this::decideNext);
        }
    }

    private void decideNext() {
        Arrival arrival = take();
        if (arrival != null) {
            server.decide(arrival);
        }
    }

    private void sendAllAway() {
        Arrival arrival;
        while ((arrival = take()) != null) {
            arrival.refuse(
                    new DpuException(
                            Status.SHUTDOWN, "server is stopping: server=" + server.serverName()));
        }
    }

    private @Nullable Arrival take() {
        Arrival arrival = waiting.poll();
        if (arrival != null) {
            count.decrementAndGet();
        }
        return arrival;
    }

    private Arrival examine(PendingLink pending) {
        Hello hello = null;
        try {
            hello = Hello.decode(pending.payload());
            DpuException unfit = server.unfit(hello, pending.remoteBytes());
            if (unfit != null) { // before this process allocates anything for the client
                return new Arrival(pending, hello, null, unfit);
            }
            return new Arrival(pending, hello, InboundRing.allocate(bus, terms), null);
        } catch (DpuException e) {
            return new Arrival(pending, hello, null, e);
        } catch (FabricException e) {
            return new Arrival(pending, hello, null, Failures.of(e));
        }
    }
}
