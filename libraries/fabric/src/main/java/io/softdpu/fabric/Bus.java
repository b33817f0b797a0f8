package io.softdpu.fabric;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.folder.FabricFolder;
import io.softdpu.fabric.folder.FabricPath;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.handshake.Endpoint;
import io.softdpu.fabric.handshake.EndpointListener;
import io.softdpu.fabric.handshake.Handshakes;
import io.softdpu.fabric.handshake.Import;
import io.softdpu.fabric.link.Mailbox;
import io.softdpu.fabric.link.PacedAction;
import io.softdpu.fabric.memory.MappedBytes;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.BusIdentity;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.Exports;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.region.LeaseListener;
import io.softdpu.fabric.thread.BusThreads;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.MemoryLimits;
import io.softdpu.linux.text.Reason;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Membership of this process in a fabric: the joined fabric folder and the daemon thread {@code
 * softdpu-bus}, which stands for the hardware. One object per machine; a process may have several.
 *
 * <p>Any thread may call any method. Futures complete, and listeners are called, on the bus thread:
 * they post to a {@link Mailbox} and return.
 */
public final class Bus implements AutoCloseable {
    /**
     * Configuration of a bus.
     *
     * @param folder the fabric folder; null for that of {@link FabricPath}: {@code SOFTDPU_FABRIC},
     *     or the default of this user
     * @param topologyHash 32 bytes; a process with another hash may not join
     * @param topologyName shown beside the hash when two differ
     * @param handshakeTimeoutNanos time limit for the request of a new client, and for the lock of
     *     the folder
     * @param maxImportBytes largest region that is imported
     * @param maxMappedBytes limit of the memory of all peers together that is mapped here at a time
     * @param maxMappedBytesPerPeer the same limit for one peer process
     */
    @SuppressWarnings("ArrayRecordComponent") // set once, read once
    public record Config(
            @Nullable Path folder,
            byte[] topologyHash,
            String topologyName,
            long handshakeTimeoutNanos,
            long maxImportBytes,
            long maxMappedBytes,
            long maxMappedBytesPerPeer) {}

    private final Config config;
    private final FabricFolder folder;
    private final BusThreads threads;
    private final BusIdentity identity;
    private final Exports exports;
    private final MappedBytes mappedBytes;
    private final Handshakes handshakes;

    private Bus(Config config, FabricFolder folder, BusThreads threads) {
        this.config = config;
        this.folder = folder;
        this.threads = threads;
        this.identity = BusIdentity.create(folder.id());
        this.exports = new Exports(threads, identity);
        this.mappedBytes = new MappedBytes(config.maxMappedBytes(), config.maxMappedBytesPerPeer());
        this.handshakes =
                new Handshakes(
                        threads,
                        folder,
                        exports,
                        mappedBytes,
                        new Handshakes.Limits(
                                config.handshakeTimeoutNanos(), config.maxImportBytes()));
    }

    /**
     * Joins a fabric folder and starts the bus thread.
     *
     * @throws FabricException CONFLICT if the folder is in use with another topology; NOT_PERMITTED
     *     if it is not private to this user; TIMED_OUT if another process keeps its topology
     *     locked; SYSTEM if it cannot be used; MALFORMED if {@code SOFTDPU_FABRIC} is needed and
     *     not an absolute path
     */
    public static Bus open(Config config) {
        FabricFolder folder =
                FabricFolder.join(
                        FabricPath.of(config.folder()),
                        config.topologyHash(),
                        config.topologyName(),
                        config.handshakeTimeoutNanos());
        BusThreads threads = null;
        Bus bus;
        try {
            threads = new BusThreads(folder.path());
            bus = new Bus(config, folder, threads);
            threads.start();
        } catch (LinuxException | UncheckedIOException | OutOfMemoryError e) {
            // OutOfMemoryError: no thread could be started, which the JVM reports so.
            if (threads != null) {
                threads.abandon();
            }
            folder.close();
            throw new FabricException(
                    FabricException.Kind.SYSTEM, "bus cannot be opened: " + Reason.of(e), e);
        }
        boolean opened = false;
        try {
            bus.handshakes.serveRegions(bus.identity.busId());
            opened = true;
            return bus;
        } finally {
            if (!opened) {
                bus.close();
            }
        }
    }

    /** The fabric folder. */
    public Path folder() {
        return folder.path();
    }

    /** The kernel's boot id: addresses of another kernel cannot be imported. */
    public RegionAddress.Id bootId() {
        return identity.bootId();
    }

    /** The number of this bus among all: random. */
    public RegionAddress.Id busId() {
        return identity.busId();
    }

    /** The folder's identity: addresses of another fabric cannot be imported. */
    public RegionAddress.Id fabricId() {
        return folder.id();
    }

    /**
     * The text that the processes of this folder share on functions that were plugged in, in the
     * form that they use; null if there is none. It is deleted when the last of them has left.
     *
     * @throws FabricException SYSTEM if it cannot be read
     */
    public @Nullable String hotplugText() {
        return folder.hotplug().read();
    }

    /**
     * Changes that text, one process at a time.
     *
     * @param change gets the text or null and returns the new one; if it throws, nothing is changed
     * @throws FabricException TIMED_OUT if another process keeps it locked, inside progress at
     *     once; SYSTEM
     */
    public void updateHotplugText(UnaryOperator<@Nullable String> change) {
        requireOpen();
        try {
            folder.hotplug().update(config.handshakeTimeoutNanos(), change);
        } catch (LinuxException e) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM,
                    "fabric folder not usable: path=" + folder.path() + ", " + Reason.of(e),
                    e);
        }
    }

    /**
     * Bytes of revoked regions that importers still have mapped; after {@link #close()} those that
     * they had then.
     */
    public long retainedBytes() {
        return exports.retainedBytes();
    }

    /**
     * Exports memory to other processes. It is sealed, which cannot be undone.
     *
     * @param writable whether importers may write; fixed for one memory by its first export
     * @throws FabricException NOT_SUPPORTED if it is exported with the other access already; IN_USE
     *     while importers hold it from an export that was revoked
     */
    public ExportedRegion export(
            SharedSegment memory, boolean writable, @Nullable LeaseListener listener) {
        requireOpen();
        return exports.export(memory, writable, listener);
    }

    /**
     * Re-exports an import: its descriptor is sent to importers under a key of its own, and nothing
     * is mapped here for it. Ends with the import.
     *
     * @throws FabricException NOT_PERMITTED if more access is requested than was granted;
     *     NOT_SUPPORTED for an import that is a re-export already, and for re-exporting writable
     *     memory as read-only
     */
    public ExportedRegion reexport(
            ImportedRegion parent, boolean writable, @Nullable LeaseListener listener) {
        requireOpen();
        return exports.reexport(parent, writable, listener);
    }

    /**
     * Requests a lease of a region from the exporter's bus thread.
     *
     * @param map whether to map and prefault it for use here; otherwise it can only be re-exported
     * @param timeoutNanos time limit for the exporter's reply; mapping has none, and is done in
     *     slices on threads of its own
     * @throws FabricException NOT_FOUND if it belongs to another kernel or fabric folder; TOO_BIG
     *     if it is larger than this bus imports. The future fails with LIMIT if the limit of mapped
     *     memory of this peer or of all peers would be exceeded, and with MALFORMED if the exporter
     *     deallocates blocks of the memory meanwhile
     */
    public Import<ImportedRegion> importRegion(
            RegionAddress region, boolean writable, boolean map, long timeoutNanos) {
        requireOpen();
        identity.requireReachable(region);
        return handshakes.lease(region, writable, map, timeoutNanos);
    }

    /**
     * Refuses a region that is larger than what is imported here, of whatever kernel and folder.
     *
     * @throws FabricException TOO_BIG
     */
    public void requireImportable(RegionAddress region) {
        requireOpen();
        handshakes.requireImportable(region);
    }

    /**
     * Serves a name.
     *
     * @throws FabricException IN_USE if a living process serves it; TIMED_OUT if another process
     *     examines it for a second, inside progress at once; SYSTEM if it cannot be bound
     */
    public Endpoint listen(String name, EndpointListener listener) {
        requireOpen();
        return handshakes.listen(name, listener);
    }

    /**
     * Names with a prefix that processes of the fabric folder serve now, for messages.
     *
     * @return a few at most, in the order of the alphabet
     * @throws FabricException SYSTEM if the folder cannot be read
     */
    public List<String> servedNames(String prefix) {
        try {
            return folder.servedNames(prefix);
        } catch (LinuxException | UncheckedIOException e) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM,
                    "fabric folder cannot be read: path="
                            + folder.path()
                            + ", cause="
                            + Reason.of(e),
                    e);
        }
    }

    /**
     * The process that serves a name, for messages. It connects to the name's socket and asks the
     * kernel for the peer: a process that only holds the name's lock is not found.
     *
     * @return its process id; empty if none is found
     */
    public OptionalInt servingPid(String name) {
        requireOpen();
        return handshakes.servingPid(name);
    }

    /**
     * Connects to a name. The inbound memory is sealed and given to the peer, writable.
     *
     * @param payload passed to the peer's listener, at most 4,096 bytes
     * @return its future fails at once with NOT_FOUND if no process serves the name
     */
    public Import<Attachment> connect(
            String name, byte[] payload, SharedSegment inbound, long timeoutNanos) {
        requireOpen();
        if (payload.length > Frame.MAX_PAYLOAD_BYTES) {
            throw new FabricException(
                    FabricException.Kind.NOT_SUPPORTED,
                    "handshake payload too long: bytes="
                            + payload.length
                            + ", limit="
                            + Frame.MAX_PAYLOAD_BYTES);
        }
        inbound.seal(false);
        return handshakes.join(name, payload, inbound, timeoutNanos);
    }

    /**
     * Releases one reference to shared memory. After the last one a mapping worker unmaps the
     * memory, so this returns at once and may be called on any thread, inside progress too.
     */
    public void release(SharedSegment memory) {
        memory.release(threads);
    }

    /**
     * Releases one reference to shared memory, as {@link #release(SharedSegment)} does.
     *
     * @param unmapped runs when the memory has been unmapped, or at once if there are further
     *     references
     */
    public void release(SharedSegment memory, Runnable unmapped) {
        memory.release(threads, unmapped);
    }

    /** Closes the link of a connection and releases its memory; any thread. */
    public void release(Attachment connection) {
        connection.close(threads);
    }

    /**
     * Runs long work for a peer on a mapping worker, such as allocating memory.
     *
     * @param peerPid process id of the peer; peers take turns
     * @param work runs once
     */
    public void runForPeer(int peerPid, Runnable work) {
        threads.workers()
                .submit(
                        peerPid,
                        () -> {
                            work.run();
                            return false;
                        });
    }

    /**
     * Default limit of the memory of all peers together that is mapped in a process: half of the
     * machine's memory, or of the limit of its memory cgroup if that is less.
     *
     * @throws FabricException SYSTEM if the kernel does not report them
     */
    public static long defaultMaxMappedBytes() {
        try {
            return MemoryLimits.totalBytes() / 2;
        } catch (UncheckedIOException | IllegalStateException e) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM,
                    "limit of mapped memory not known, give one when the machine is opened: "
                            + Reason.of(e),
                    e);
        }
    }

    /** Bytes of memory of peers that are mapped here now, or are being mapped. */
    public long mappedBytesOfPeers() {
        return mappedBytes.allBytes();
    }

    /** An action that runs on the bus thread once per interval at most; requested there. */
    public PacedAction paced(long intervalNanos, Runnable action) {
        return new PacedAction(threads, intervalNanos, action);
    }

    /**
     * Whether links end because this bus does: their end says nothing about the peers, which may
     * hold memory still. Any thread.
     */
    public boolean isEnding() {
        return threads.ending();
    }

    /** Leaves the fabric: names, exports and links of this bus end. Waits for the bus thread. */
    @Override
    public void close() {
        if (threads.beginClose()) {
            try {
                handshakes.closeEndpoints();
                exports.revokeAll();
            } finally { // a folder that cannot be cleaned must not keep the threads alive
                threads.endWork();
                handshakes.end();
                threads.endClosing();
                folder.close();
            }
        }
    }

    private void requireOpen() {
        threads.requireOpen();
    }

    /** The threads of this bus, for tests. */
    BusThreads threads() {
        return threads;
    }

    /** The folder with the sockets, for tests. */
    FabricFolder fabricFolder() {
        return folder;
    }
}
