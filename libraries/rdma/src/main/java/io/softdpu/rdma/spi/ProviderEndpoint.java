package io.softdpu.rdma.spi;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Endpoint of one started RDMA instance, as implemented by a provider: its connections and its
 * receive queue. Belongs to the thread of the instance's engine.
 */
public interface ProviderEndpoint {
    /**
     * Creates a connection whose local end is ready, so that its details can be transferred to a
     * peer.
     *
     * @param owner returned by {@link ProviderConnection#owner()}
     * @throws io.softdpu.core.DpuException NO_MEMORY, OPERATING_SYSTEM if a resource cannot be
     *     allocated
     */
    ProviderConnection createConnection(Object owner);

    /**
     * Whether the peer that exported the section can be reached from this endpoint.
     *
     * @param section from {@link ProviderConnection#details()} of the peer, but untrusted; not
     *     modified
     * @throws io.softdpu.core.DpuException INVALID_VALUE if it is malformed, UNSUPPORTED_VERSION if
     *     it is of another version; another status for a peer that this provider alone can connect,
     *     with the reason why it does not
     */
    boolean reaches(byte[] section);

    /**
     * Listens on a port of the device, for requests of peers that connect to one of its addresses.
     * Each request is reported by {@link EndpointListener#requested}.
     *
     * @param port 1 to 65,535, on which this endpoint does not listen yet
     * @throws io.softdpu.core.DpuException ALREADY_EXIST if the port is in use, naming the holder;
     *     NO_MEMORY, OPERATING_SYSTEM
     */
    void listen(int port);

    /**
     * Releases a port. Requests that were reported can still be answered; others are rejected. Does
     * nothing for a port on which this endpoint does not listen.
     */
    void stopListening(int port);

    /**
     * Creates a connection and requests it from the listener at an address. {@link
     * EndpointListener#accepted} or {@link EndpointListener#rejected} follows if the listener
     * answers, and then {@link EndpointListener#established} or {@link EndpointListener#ended}.
     * NOT_FOUND means that nothing listened there, CONNECTION_RESET that the listener has gone or
     * stopped listening since, and TIME_OUT that it was not established within the connect timeout.
     *
     * @param address of a device
     * @param port 1 to 65,535
     * @param privateData for the listener's program, within {@link PrivateData#CONNECT_BYTES}
     * @param owner returned by {@link ProviderConnection#owner()}
     * @throws io.softdpu.core.DpuException NOT_SUPPORTED if this provider does not reach the
     *     address; ALREADY_EXIST if another process has a port that answers need; FULL, NO_MEMORY,
     *     OPERATING_SYSTEM
     */
    ProviderConnection connect(InetAddress address, int port, byte[] privateData, Object owner);

    /**
     * A snapshot of what was counted for the device: numbers by name, in an order that does not
     * change. Not modified afterwards.
     */
    default SequencedMap<String, Long> counters() {
        return new LinkedHashMap<>();
    }

    /**
     * Adds a receive to the queue that all connections share; messages consume them in order.
     *
     * @return null, or AGAIN if as many are posted as were configured, by a {@linkplain
     *     Refusal#ready ready} refusal
     */
    @Nullable Refusal postReceive(WorkRequest request);

    /**
     * Advances all connections, each by at most one slice of data, or a batch of packets, per call.
     * Waits for nothing, as {@link #arm()} and {@link #ring()}.
     *
     * @return whether any work was done
     */
    boolean progress();

    /**
     * Prepares for the engine's sleep: from now on each event that {@link #progress()} has to
     * handle wakes the engine.
     *
     * @return true if there is work already, so that the engine must not sleep
     */
    boolean arm();

    /**
     * Hands all submitted work over, and rings the peers' doorbells for it, without waiting for the
     * next progress.
     */
    void ring();

    /** Reverts {@link #arm()}. */
    void disarm();

    /**
     * Completes all requests in flight, receives included, with the status, and disconnects all
     * connections in an orderly way. No later call causes an event. Inside progress. May wait for
     * the batch of packets under way, which changes no memory of a completed request.
     */
    void flush(Status status);

    /**
     * Releases all resources, which ends the connections for their peers. Causes no event. May wait
     * for the batch of packets under way.
     */
    void close();
}
