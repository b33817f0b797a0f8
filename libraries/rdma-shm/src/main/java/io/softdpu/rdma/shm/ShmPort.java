package io.softdpu.rdma.shm;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.handshake.Endpoint;
import io.softdpu.fabric.handshake.EndpointListener;
import io.softdpu.fabric.handshake.PendingLink;
import io.softdpu.linux.text.Text;
import org.jspecify.annotations.Nullable;

/**
 * A port on which an endpoint listens: the served name, and the check of requests, on the bus
 * thread, before the engine gets them.
 */
final class ShmPort implements EndpointListener {
    private final ShmListeners listeners;
    private final ContextServices services;
    private final Bus bus;
    private final PciFunction function;
    private final int port;
    private @Nullable Endpoint served;
    private volatile boolean closed;

    ShmPort(ShmListeners listeners, PciFunction function, int port) {
        this.listeners = listeners;
        this.services = listeners.endpoint().services();
        this.bus = listeners.endpoint().bus();
        this.function = function;
        this.port = port;
    }

    /**
     * Serves the name.
     *
     * @throws io.softdpu.fabric.error.FabricException IN_USE if a living process serves it; SYSTEM
     */
    void listen(String name) {
        served = bus.listen(name, this);
    }

    /** Releases the name. The engine's thread. */
    void close() {
        closed = true;
        if (served != null) {
            served.close();
        }
    }

    int port() {
        return port;
    }

    /** On the bus thread: at most a payload is decoded here. */
    @Override
    public void arriving(PendingLink pending) {
        if (closed) {
            pending.refuse(Status.CONNECTION_ABORTED.code(), released());
            return;
        }
        if (!listeners.reserve()) {
            pending.refuse(
                    Status.CONNECTION_ABORTED.code(),
                    "too many requests wait for the listener: limit=" + listeners.limit());
            return;
        }
        ShmRequest request;
        try {
            request = new ShmRequest(listeners, this, pending, examine(pending));
        } catch (DpuException e) {
            listeners.release();
            pending.refuse(e.status().code(), String.valueOf(e.getMessage()));
            return;
        }
        services.post(() -> listeners.arrived(request));
        pending.onPeerGone(() -> services.post(request::peerGone));
    }

    /** The reason for refusing a request after {@link #close}. */
    String released() {
        return "listener has released the port: port=" + port;
    }

    private ConnectMessage examine(PendingLink pending) {
        ConnectMessage.requireMemory(pending.remoteBytes());
        ConnectMessage message = ConnectMessage.decodeRequest(pending.payload());
        ConnectMessage.Route route = message.requireRoute();
        if (route.port() != port || !ListenerName.hasAddress(function, route.destination())) {
            throw new DpuException(
                    Status.NOT_FOUND,
                    Text.format(
                            "RDMA request is for another listener: destination=%s, port=%d,"
                                    + " listener=%s, listenerPort=%d",
                            route.destination().getHostAddress(),
                            route.port(),
                            function.key(),
                            port));
        }
        if (!route.isOfOneFamily()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "RDMA request is from an address of another family: source=%s,"
                                    + " destination=%s, expected=both IPv4 or both IPv6",
                            route.source().getHostAddress(), route.destination().getHostAddress()));
        }
        if (!ShmEndpoint.reaches(bus, message.requireDetails())) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "RDMA request has a region of another machine: region=%s, expected=one"
                                    + " of this kernel and folder",
                            message.requireDetails().region().busId()));
        }
        return message;
    }
}
