package io.softdpu.rdma.spi;

import io.softdpu.core.check.Refusal;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Reliable connection, as implemented by a provider. Belongs to the thread of the instance's
 * engine.
 *
 * <p>Work is executed and completed in the order of submission: a send arrives after the data of
 * earlier writes.
 */
public interface ProviderConnection {
    /** The listener's object for this connection, passed at creation. */
    Object owner();

    /** The section for the peer's provider, which needs it to connect; opaque to all others. */
    byte[] details();

    /** The lower path MTU of both ends in bytes; that of this end until it is established. */
    int pathMtuBytes();

    /**
     * A snapshot of what this provider counts for the connection, in a map of its own: numbers by
     * names in snake_case, the same names in the same order each time. A provider that copies
     * payload on another thread than the engine's counts these bytes as {@code
     * nic_payload_bytes_copied}. After the end, and after {@link #close()}, the last ones. By
     * default it counts nothing.
     */
    default SequencedMap<String, Long> counters() {
        return new LinkedHashMap<>();
    }

    /**
     * Begins to connect; {@link EndpointListener#established} or {@link EndpointListener#ended}
     * follows. Once; a call that throws changes nothing, so that another may follow with another
     * peer or provider.
     *
     * @param section the peer's {@link #details()}; {@link ProviderEndpoint#reaches} has accepted
     *     it
     * @throws io.softdpu.core.DpuException INVALID_VALUE if it is malformed; ALREADY_EXIST if the
     *     peer's end belongs to another connection; NO_MEMORY
     */
    void connect(byte[] section);

    /**
     * Queues a request of any kind but a receive. It has been checked against the configuration,
     * the limits and the permissions of both sides. A read or write of eight bytes at a multiple of
     * eight is one load or store of the remote memory if the local bytes are in one element.
     *
     * <p>It is executed after all work before it, and completed in progress. A provider that copies
     * may execute it in this call. One that has a network hands it over in the next {@link
     * ProviderEndpoint#progress()}, {@link ProviderEndpoint#ring()} or {@link
     * ProviderEndpoint#arm()}, never in this call: a flush or a disconnect before that undoes it.
     *
     * <p>A provider that changes the remote memory itself calls {@link
     * io.softdpu.core.spi.memory.RemoteMemory#changed()} right after each executed write and atomic
     * operation, which wakes those who wait for a sync event. One whose responder changes it leaves
     * the wake-up to that.
     *
     * @return null if it was accepted; AGAIN if the send queue is full, by a {@linkplain
     *     Refusal#ready ready} refusal; NOT_CONNECTED if the connection is not established or has
     *     ended; another status if this provider cannot do the request
     */
    @Nullable Refusal submit(WorkRequest request);

    /**
     * Disconnects in an orderly way in a later progress: its work is completed, with
     * CONNECTION_ABORTED unless it was done before, then {@link EndpointListener#ended} is called.
     * Posted receives stay. May wait for the batch of packets under way.
     */
    void disconnect();

    /**
     * Releases the connection's resources without an event. Idempotent. May wait for the batch of
     * packets under way.
     */
    void close();
}
