package io.softdpu.fabric.handshake;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.folder.FabricFolder;
import io.softdpu.fabric.memory.MappedBytes;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.Exports;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.thread.BusThreads;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.Identity;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.ReceivedMessage;
import io.softdpu.linux.UnixSocket;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Handshakes of one bus: served names, connections to names of other processes, leases of their
 * regions, and the state that these share.
 *
 * <p>Any thread may begin a handshake; it runs on the bus thread, where its future completes.
 */
public final class Handshakes {
    /** Limit of clients that have not sent their request; beyond it the oldest is dropped. */
    public static final int PENDING_LIMIT = 256;

    /** Size limit of the memory sent with a HELLO or a WELCOME, which holds rings. */
    public static final long MAX_JOINING_BYTES = 16 << 20;

    private static final System.Logger LOG = System.getLogger(Handshakes.class.getName());
    private static final String EXPORTER_PREFIX = "bus:";

    /**
     * Limits of the handshakes of a bus.
     *
     * @param timeoutNanos time limit for a client's request
     * @param maxImportBytes largest region that is imported
     */
    public record Limits(long timeoutNanos, long maxImportBytes) {}

    private final BusThreads threads;
    private final FabricFolder folder;
    private final Exports exports;
    private final MappedBytes mappedBytes;
    private final Limits limits;
    private final int uid = Identity.effectiveUid();
    private final PendingHandshakes pending = new PendingHandshakes(PENDING_LIMIT);
    private final Set<Endpoint> endpoints = ConcurrentHashMap.newKeySet();
    private final ReceivedMessage receiveBuffer;

    /**
     * Creates the handshakes of a bus, which serves no name yet.
     *
     * @param exports regions that clients may lease
     * @param mappedBytes accounting of the memory of peers that is mapped here
     */
    public Handshakes(
            BusThreads threads,
            FabricFolder folder,
            Exports exports,
            MappedBytes mappedBytes,
            Limits limits) {
        this.threads = threads;
        this.folder = folder;
        this.exports = exports;
        this.mappedBytes = mappedBytes;
        this.limits = limits;
        this.receiveBuffer =
                new ReceivedMessage(
                        Frame.MAX_BYTES, 1 + Frame.MAX_GENERATIONS, threads.closer()::closeRefused);
    }

    /**
     * Answers requests for the exported regions.
     *
     * @throws FabricException SYSTEM if the bus's name cannot be bound
     */
    public void serveRegions(RegionAddress.Id busId) {
        endpoints.add(Endpoint.open(this, exporterName(busId), null));
    }

    /**
     * Serves a name.
     *
     * @throws FabricException IN_USE if a living process serves it; SYSTEM if it cannot be bound;
     *     CLOSED
     */
    public Endpoint listen(String name, EndpointListener listener) {
        Endpoint endpoint = Endpoint.open(this, name, listener);
        endpoints.add(endpoint);
        if (threads.closed()) { // close may have run before the name was added
            endpoint.close();
            threads.requireOpen();
        }
        return endpoint;
    }

    /**
     * Refuses a region that is larger than what is imported here.
     *
     * @throws FabricException TOO_BIG
     */
    public void requireImportable(RegionAddress region) {
        if (region.sizeBytes() > limits.maxImportBytes()) {
            throw new FabricException(
                    FabricException.Kind.TOO_BIG,
                    "region is larger than what is imported here: sizeBytes="
                            + region.sizeBytes()
                            + ", limitBytes="
                            + limits.maxImportBytes()
                            + ", region="
                            + region.regionId());
        }
    }

    /**
     * Requests a lease from an exporter.
     *
     * @param map whether to map and prefault it for use here; otherwise it can only be re-exported
     * @param timeoutNanos time limit for the exporter's reply
     * @throws FabricException TOO_BIG if the region is larger than this bus imports
     */
    public Import<ImportedRegion> lease(
            RegionAddress region, boolean writable, boolean map, long timeoutNanos) {
        requireImportable(region);
        return new Import<>(
                        this,
                        exporterName(region.busId()),
                        new Frame.Lease(region.regionId(), region.key(), writable),
                        null,
                        timeoutNanos,
                        reply -> HandshakeReplies.grant(this, region, writable, map, reply))
                .begin();
    }

    /**
     * Connects to a name.
     *
     * @param payload passed to the peer's listener
     * @param inbound sealed memory that is sent to the peer, writable
     * @param timeoutNanos time limit for the peer's reply
     * @throws FabricException CLOSED if the memory has been released
     */
    public Import<Attachment> join(
            String name, byte[] payload, SharedSegment inbound, long timeoutNanos) {
        return new Import<>(
                        this,
                        name,
                        new Frame.Hello(inbound.sizeBytes(), payload),
                        inbound,
                        timeoutNanos,
                        reply -> HandshakeReplies.welcome(this, reply))
                .begin();
    }

    /**
     * The process that serves a name, by a connection that carries nothing.
     *
     * @return its process id; empty if there is no such process, its backlog is full, or it belongs
     *     to another user
     */
    public OptionalInt servingPid(String name) {
        try {
            int socket = UnixSocket.create();
            try {
                return folder.connect(socket, name) == 0
                        ? OptionalInt.of(UnixSocket.peerCredentials(socket).pid())
                        : OptionalInt.empty();
            } finally {
                threads.closer().closeSocket(socket);
            }
        } catch (LinuxException | FabricException e) {
            LOG.log(
                    System.Logger.Level.DEBUG,
                    () -> "process of a name not found: name=" + name + ", " + e.getMessage());
            return OptionalInt.empty();
        }
    }

    /** Ends all names. */
    public void closeEndpoints() {
        List.copyOf(endpoints).forEach(Endpoint::close);
    }

    /** Releases the receive buffer; after the end of the bus thread. */
    public void end() {
        receiveBuffer.close();
    }

    // ---- for the handshakes ----

    BusThreads threads() {
        return threads;
    }

    FabricFolder folder() {
        return folder;
    }

    /** Regions that others may import. */
    Exports exports() {
        return exports;
    }

    /** Accounting of the memory of peers that is mapped here. */
    MappedBytes mappedBytes() {
        return mappedBytes;
    }

    /** User id that peers must have. */
    int uid() {
        return uid;
    }

    long timeoutNanos() {
        return limits.timeoutNanos();
    }

    long maxImportBytes() {
        return limits.maxImportBytes();
    }

    /** Size limit of the memory that a client or a server sends for its rings. */
    long maxJoiningBytes() {
        return Math.min(MAX_JOINING_BYTES, limits.maxImportBytes());
    }

    /** The one receive buffer; on the bus thread, emptied by the message's close. */
    ReceivedMessage receiveBuffer() {
        return receiveBuffer;
    }

    /** Clients that have not sent their request; on the bus thread. */
    PendingHandshakes pending() {
        return pending;
    }

    void endpointClosed(Endpoint endpoint) {
        endpoints.remove(endpoint);
    }

    private static String exporterName(RegionAddress.Id busId) {
        return EXPORTER_PREFIX + busId;
    }
}
