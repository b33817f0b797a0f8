package io.softdpu.rdma.shm;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.spi.Failures;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.linux.text.Text;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Ports on which an endpoint listens, and the requests of peers that wait: as many as the instance
 * may have connections, of which the instance takes care, and a few that have not reached it yet;
 * further ones are rejected. Belongs to the engine's thread, except where a method states
 * otherwise.
 */
final class ShmListeners {
    /** Requests per pass of progress, so that a burst of them does not delay the connections. */
    private static final int REQUESTS_PER_PASS = 4;

    /**
     * Limit of requests beyond those that the instance can take: while it does not progress they
     * count, though their peers may have given up.
     */
    private static final int BACKLOG = 16;

    private static final String MEMORY_NAME = "softdpu-rdma-answer";

    private final ShmEndpoint endpoint;
    private final Bus bus;
    private final int limit;
    private final AtomicInteger waiting = new AtomicInteger();
    private final Map<Integer, ShmPort> ports = new HashMap<>();

    /** Requests that were not reported yet, oldest first. */
    private final Queue<ShmRequest> arrived = new ArrayDeque<>();

    /** Requests that were reported, until they are answered and the answer was sent. */
    private final List<ShmRequest> reported = new ArrayList<>();

    /** Sent with each answer, since a handshake has memory; neither side reads it. */
    private @Nullable SharedSegment answerMemory;

    ShmListeners(ShmEndpoint endpoint, int maxConnections) {
        this.endpoint = endpoint;
        this.bus = endpoint.bus();
        this.limit = maxConnections + BACKLOG;
    }

    /**
     * Serves the name of a port.
     *
     * @throws DpuException ALREADY_EXIST if it is in use; NO_MEMORY, OPERATING_SYSTEM
     */
    void listen(int port) {
        PciFunction function = endpoint.config().device().info().function();
        String name = ListenerName.of(function, port);
        ShmPort listener = new ShmPort(this, function, port);
        try {
            if (answerMemory == null) {
                answerMemory = SharedSegment.allocate(MEMORY_NAME, 1);
            }
            listener.listen(name);
        } catch (FabricException e) {
            throw e.kind() == FabricException.Kind.IN_USE ? inUse(name, port, e) : Failures.of(e);
        }
        ports.put(port, listener);
    }

    private DpuException inUse(String name, int port, FabricException cause) {
        OptionalInt pid = bus.servingPid(name);
        return new DpuException(
                Status.ALREADY_EXIST,
                Text.format(
                        "RDMA port is in use: port=%d, device=%s, holder=process %s,"
                                + " expected=another port, or stopListening there first",
                        port,
                        endpoint.config().device().info(),
                        pid.isPresent() ? Integer.toString(pid.getAsInt()) : "unknown"),
                cause);
    }

    /** Releases the name of a port, if it is served, and rejects requests not reported yet. */
    void stopListening(int port) {
        ShmPort listener = ports.remove(port);
        if (listener != null) {
            listener.close();
            for (ShmRequest request : List.copyOf(arrived)) {
                if (request.port() == port) {
                    arrived.remove(request);
                    request.refuse(listener.released());
                }
            }
        }
    }

    /**
     * Sends the answers to requests that were accepted before this pass, and reports requests that
     * have arrived. Inside progress.
     *
     * @return whether there was one
     */
    boolean progress() {
        boolean moved = reported.removeIf(ShmRequest::isFinished);
        for (int left = REQUESTS_PER_PASS; left > 0 && !arrived.isEmpty(); left--) {
            ShmRequest request = arrived.remove();
            moved = true;
            if (!request.hasEnded()) {
                reported.add(request);
                endpoint.listener().requested(endpoint, request);
            }
        }
        return moved;
    }

    /** Whether progress has something to do. */
    boolean hasWork() {
        if (!arrived.isEmpty()) {
            return true;
        }
        for (int i = 0; i < reported.size(); i++) { // an iterator per sleep would be garbage
            if (reported.get(i).isAnswerDue()) {
                return true;
            }
        }
        return false;
    }

    /** Releases all ports and ends all requests. */
    void close() {
        List.copyOf(ports.keySet()).forEach(this::stopListening);
        for (ShmRequest request : List.copyOf(reported)) {
            request.refuse("listener is stopping");
        }
        reported.clear();
        if (answerMemory != null) {
            bus.release(answerMemory);
            answerMemory = null;
        }
    }

    /** From the mailbox: a request whose payload is valid. */
    void arrived(ShmRequest request) {
        if (ports.get(request.port()) == request.listener()) {
            arrived.add(request);
        } else {
            request.refuse(request.listener().released());
        }
    }

    /**
     * Counts a request of a peer. Any thread.
     *
     * @return false if as many wait as may
     */
    boolean reserve() {
        if (waiting.incrementAndGet() > limit) {
            waiting.decrementAndGet();
            return false;
        }
        return true;
    }

    /** A request no longer waits. Any thread. */
    void release() {
        waiting.decrementAndGet();
    }

    /** Limit of requests that wait. Any thread. */
    int limit() {
        return limit;
    }

    ShmEndpoint endpoint() {
        return endpoint;
    }

    /** Memory for an answer. */
    SharedSegment answerMemory() {
        return Objects.requireNonNull(answerMemory, "answers without a port");
    }
}
