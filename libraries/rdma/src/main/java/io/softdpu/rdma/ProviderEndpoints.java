package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.rdma.spi.EndpointConfig;
import io.softdpu.rdma.spi.EndpointListener;
import io.softdpu.rdma.spi.ProviderEndpoint;
import io.softdpu.rdma.spi.RdmaProvider;
import io.softdpu.rdma.spi.WorkRequest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.NavigableMap;
import java.util.SequencedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the {@link ConnectionTable} with the endpoints of the providers that could serve
 * its connections. One of them is selected in the end, since all connections of an instance share
 * one receive queue, which belongs to one provider; the others are closed then. Belongs to the
 * engine's thread.
 */
abstract sealed class ProviderEndpoints permits ConnectionTable {
    private static final Refusal NOT_CONNECTED =
            Refusal.ready(
                    Status.NOT_CONNECTED,
                    () -> "instance has no connection yet: connections=0, expected=Rdma.connect");

    final List<RdmaProvider> providers;

    /** One per provider; null if it could not be opened, or is closed. */
    final @Nullable ProviderEndpoint[] endpoints;

    /** Whether an endpoint is driven: it listens, connects, or is the selected one. */
    private final boolean[] driven;

    /** Endpoints that were not selected in a callback of this progress, closed at its end. */
    private final List<ProviderEndpoint> displaced = new ArrayList<>();

    /** Ports with the reasons of the providers that do not listen on them. */
    private final NavigableMap<Integer, ProviderFailures> ports = new TreeMap<>();

    /** Reasons of the providers that could not be opened, until one is selected. */
    private ProviderFailures unopened = new ProviderFailures();

    private boolean insideProgress;
    private @Nullable ProviderEndpoint selected;
    private int selectedProvider = -1;

    ProviderEndpoints(List<RdmaProvider> providers) {
        this.providers = providers;
        this.driven = new boolean[providers.size()];
        this.endpoints = new @Nullable ProviderEndpoint[providers.size()];
    }

    /**
     * Opens the endpoints of all providers that can serve the instance; if it throws it has closed
     * them.
     *
     * @param context for the message
     * @throws DpuException if none can
     */
    final void open(EndpointConfig config, EndpointListener listener, Object context) {
        boolean opened = false;
        boolean done = false;
        try {
            for (int i = 0; i < endpoints.length; i++) {
                try {
                    endpoints[i] = providers.get(i).open(config, listener);
                    opened = true;
                } catch (DpuException e) {
                    unopened.add(providers.get(i), e);
                }
            }
            if (!opened) {
                throw unopened.ofAll("no RDMA provider can serve the instance: context=" + context);
            }
            done = true;
        } finally {
            if (!done) {
                closeEndpoints();
            }
        }
    }

    /** What the selected provider has counted for the device; empty before one is. */
    final SequencedMap<String, Long> deviceCounters() {
        ProviderEndpoint endpoint = selected;
        return endpoint == null ? new LinkedHashMap<>() : endpoint.counters();
    }

    final boolean isSelected(int provider) {
        return selectedProvider == provider;
    }

    /** Selects an endpoint; the caller {@linkplain #displace displaces} the others. */
    final void selectEndpoint(int provider) {
        selectedProvider = provider;
        selected = endpoints[provider];
        unopened = new ProviderFailures();
        drive(provider);
    }

    /** Drives an endpoint, which connects. */
    final void drive(int provider) {
        driven[provider] = true;
    }

    /** Reasons for a call to begin with: those of providers that could not be opened. */
    final ProviderFailures failuresOfCall() {
        return new ProviderFailures(unopened);
    }

    final boolean listensOn(int port) {
        return ports.containsKey(port);
    }

    final boolean isListening() {
        return !ports.isEmpty();
    }

    /** Ports for a message, with the reasons of providers that do not listen on them. */
    final String describePorts() {
        StringBuilder text = new StringBuilder("ports=").append(ports.keySet());
        ports.values().forEach(failures -> text.append(failures.suffix("leftOut")));
        return text.toString();
    }

    /**
     * Listens with all providers that can; if it throws none listens.
     *
     * @throws DpuException if none can
     */
    final void listenOnAll(int port) {
        ProviderFailures failures = failuresOfCall();
        boolean listening = false;
        boolean done = false;
        try {
            for (int i = 0; i < endpoints.length; i++) {
                ProviderEndpoint endpoint = endpoints[i];
                if (endpoint != null) {
                    try {
                        endpoint.listen(port);
                        drive(i);
                        listening = true;
                    } catch (DpuException e) {
                        failures.add(providers.get(i), e);
                    }
                }
            }
            if (!listening) {
                throw failures.ofAll("no RDMA provider can listen on the port: port=" + port);
            }
            ports.put(port, failures);
            done = true;
        } finally {
            if (!done) {
                stopListeningOnAll(port);
            }
        }
    }

    final void stopListeningOnAll(int port) {
        ports.remove(port);
        for (ProviderEndpoint endpoint : endpoints) {
            if (endpoint != null) {
                endpoint.stopListening(port);
            }
        }
    }

    /** The provider of an endpoint; -1 if it is to be closed. */
    final int indexOf(ProviderEndpoint endpoint) {
        for (int i = 0; i < endpoints.length; i++) {
            if (endpoint.equals(endpoints[i])) {
                return i;
            }
        }
        return -1;
    }

    final @Nullable Refusal postReceive(WorkRequest request) {
        ProviderEndpoint endpoint = selected;
        return endpoint == null ? NOT_CONNECTED : endpoint.postReceive(request);
    }

    final boolean progressEndpoints() {
        boolean moved = false;
        insideProgress = true;
        try {
            for (int i = 0; i < endpoints.length; i++) {
                ProviderEndpoint endpoint = endpoints[i];
                if (endpoint != null && driven[i]) {
                    moved |= endpoint.progress();
                }
            }
        } finally {
            insideProgress = false;
            closeDisplaced();
        }
        return moved;
    }

    final boolean armEndpoints() {
        boolean work = false;
        for (int i = 0; i < endpoints.length; i++) {
            ProviderEndpoint endpoint = endpoints[i];
            if (endpoint != null && driven[i]) {
                work |= endpoint.arm();
            }
        }
        return work;
    }

    final void ring() {
        if (selected != null) {
            selected.ring();
        }
    }

    final void disarm() {
        for (int i = 0; i < endpoints.length; i++) {
            ProviderEndpoint endpoint = endpoints[i];
            if (endpoint != null && driven[i]) {
                endpoint.disarm();
            }
        }
    }

    final void flushEndpoints(Status status) {
        for (int i = 0; i < endpoints.length; i++) {
            ProviderEndpoint endpoint = endpoints[i];
            if (endpoint != null && driven[i]) {
                endpoint.flush(status);
            }
        }
    }

    final void closeEndpoints() {
        for (int i = 0; i < endpoints.length; i++) {
            closeEndpoint(i);
        }
        closeDisplaced();
        selected = null;
    }

    /** Closes an endpoint that is not selected; one inside its progress after that. */
    final void displace(int index) {
        ProviderEndpoint endpoint = endpoints[index];
        if (endpoint != null && insideProgress) {
            endpoints[index] = null;
            displaced.add(endpoint);
        } else {
            closeEndpoint(index);
        }
    }

    private void closeDisplaced() {
        if (!displaced.isEmpty()) {
            displaced.forEach(ProviderEndpoint::close);
            displaced.clear();
        }
    }

    private void closeEndpoint(int index) {
        ProviderEndpoint endpoint = endpoints[index];
        if (endpoint != null) {
            endpoints[index] = null;
            endpoint.close();
        }
    }
}
