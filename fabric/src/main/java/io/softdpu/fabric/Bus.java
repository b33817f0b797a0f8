package io.softdpu.fabric;

import io.softdpu.linux.DescriptorPassing;
import io.softdpu.linux.Identity;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.MemoryLimits;
import io.softdpu.linux.PeerCredentials;
import io.softdpu.linux.ReceivedMessage;
import io.softdpu.linux.UnixSocket;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * This process's place on the bus: a fabric folder joined, and the daemon thread {@code
 * softdpu-bus} that does there what the hardware would do. One object a machine; several may live
 * in one process.
 *
 * <p>Any thread may call any method. Futures complete, and listeners are called, on the bus thread:
 * they post to a {@link Mailbox} and return.
 */
public final class Bus implements AutoCloseable {
    /** Largest memory that comes with a HELLO or a WELCOME: rings. */
    static final long MAX_JOINING_BYTES = 16 << 20;

    /** How long a bus that closes waits for memory to be unmapped: 20 GiB and more. */
    private static final long UNMAPPING_PATIENCE_NANOS = 10_000_000_000L;

    /** How long a bus that closes waits for descriptors of peers to be closed. */
    private static final long CLOSER_PATIENCE_NANOS = 1_000_000_000L;

    private static final System.Logger LOG = System.getLogger(Bus.class.getName());

    private static final String EXPORTER_PREFIX = "bus:";

    /**
     * How a bus is opened.
     *
     * @param folder the fabric folder; null for the default of this user
     * @param topologyHash 32 bytes: who has another may not join
     * @param topologyName shown beside the hash when two differ
     * @param handshakeTimeoutNanos what a client has to say hello, and the folder to be unlocked
     * @param maxImportBytes largest region that is imported
     * @param maxMappedBytes most memory of all peers together that is mapped here at a time
     * @param maxMappedBytesPerPeer most memory of one peer process
     */
    @SuppressWarnings("ArrayRecordComponent") // set once, read once
    public record Config(
            @Nullable Path folder,
            byte[] topologyHash,
            String topologyName,
            long handshakeTimeoutNanos,
            long maxImportBytes,
            long maxMappedBytes,
            long maxMappedBytesPerPeer) {
        /** A configuration in which mapped memory is limited by the size of a region alone. */
        public Config(
                @Nullable Path folder,
                byte[] topologyHash,
                String topologyName,
                long handshakeTimeoutNanos,
                long maxImportBytes) {
            this(
                    folder,
                    topologyHash,
                    topologyName,
                    handshakeTimeoutNanos,
                    maxImportBytes,
                    Long.MAX_VALUE,
                    Long.MAX_VALUE);
        }
    }

    private final Config config;
    private final FabricFolder folder;
    private final BusLoop loop;
    private final RegionAddress.Id bootId;
    private final RegionAddress.Id busId;
    private final int uid = Identity.effectiveUid();
    private final SecureRandom random = new SecureRandom();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final Exports exports;
    private final Set<Endpoint> endpoints = ConcurrentHashMap.newKeySet();
    private final PendingHandshakes handshakes = new PendingHandshakes();
    private final DescriptorCloser closer = new DescriptorCloser();
    private final MappingWorkers workers = new MappingWorkers();
    private final MappedBytes mappedBytes;
    private final ReceivedMessage receiveBuffer =
            new ReceivedMessage(Frame.MAX_BYTES, 1 + Frame.MAX_GENERATIONS, closer::closeRefused);

    private Bus(Config config, FabricFolder folder) {
        this.config = config;
        this.mappedBytes = new MappedBytes(config.maxMappedBytes(), config.maxMappedBytesPerPeer());
        this.folder = folder;
        this.bootId = readBootId();
        this.busId = randomId();
        this.exports = new Exports(this, folder.id());
        this.loop = new BusLoop();
    }

    /**
     * Joins a fabric folder and starts the bus thread.
     *
     * @throws FabricException CONFLICT if the folder is in use with another topology; NOT_PERMITTED
     *     if it is not private to this user; SYSTEM if it cannot be used
     */
    public static Bus open(Config config) {
        FabricFolder folder =
                FabricFolder.join(
                        FabricFolder.resolve(config.folder()),
                        FabricFolder.isChosen(config.folder()),
                        config.topologyHash(),
                        config.topologyName(),
                        config.handshakeTimeoutNanos());
        Bus bus = null;
        try {
            bus = new Bus(config, folder);
            bus.workers.start();
            bus.loop.start();
        } catch (LinuxException | UncheckedIOException | OutOfMemoryError e) {
            // The last: no thread could be started, which the JVM counts as a lack of memory.
            if (bus != null) {
                bus.loop.abandon();
                boolean _ = bus.workers.end(UNMAPPING_PATIENCE_NANOS);
            }
            folder.close();
            throw new FabricException(
                    FabricException.Kind.SYSTEM, "bus cannot be opened: " + e.getMessage(), e);
        }
        boolean opened = false;
        try {
            bus.endpoints.add(Endpoint.open(bus, exporterName(bus.busId), null));
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
        return bootId;
    }

    /** Identity of this bus among those of its folder. */
    RegionAddress.Id busId() {
        return busId;
    }

    /** The folder's identity: addresses of another fabric cannot be imported. */
    public RegionAddress.Id fabricId() {
        return folder.id();
    }

    /**
     * What the processes of this folder have noted of functions that were plugged in, in whatever
     * form they use; null if nothing. It is forgotten when the last of them has left.
     *
     * @throws FabricException SYSTEM if it cannot be read
     */
    public @Nullable String hotplugNote() {
        return folder.hotplug().read();
    }

    /**
     * Changes that note, one process after the other.
     *
     * @param change is given the note or null and gives the new one; what it throws changes nothing
     * @throws FabricException TIMED_OUT if another process holds it all the time; SYSTEM
     */
    public void updateHotplugNote(UnaryOperator<@Nullable String> change) {
        requireOpen();
        try {
            folder.hotplug().update(config.handshakeTimeoutNanos(), change);
        } catch (LinuxException e) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM,
                    "fabric folder not usable: path=" + folder.path() + ", " + e.getMessage(),
                    e);
        }
    }

    /**
     * Bytes of revoked regions that importers still have mapped; after {@link #close()} those that
     * they had then.
     */
    public long keptBackBytes() {
        return exports.keptBackBytes();
    }

    /**
     * Lets others import memory, which is sealed for good if it is not yet.
     *
     * @param writable whether importers may write; fixed for one memory by its first export
     * @throws FabricException NOT_SUPPORTED if it is exported the other way already; IN_USE while
     *     importers hold it from an export that was revoked
     */
    public ExportedRegion export(
            SharedSegment memory, boolean writable, @Nullable LeaseListener listener) {
        requireOpen();
        memory.requireLetGo();
        memory.seal(!writable);
        if (!memory.retain()) {
            throw SharedSegment.gone();
        }
        boolean registered = false;
        try {
            ExportedRegion region =
                    exports.register(memory.sizeBytes(), writable, memory, null, listener);
            registered = true;
            return region;
        } finally {
            if (!registered) {
                release(memory);
            }
        }
    }

    /**
     * Passes an import on: its descriptor goes to importers under a key of its own, and nothing is
     * mapped here for it. Ends with the import.
     *
     * @throws FabricException NOT_PERMITTED if more is asked for than was granted; NOT_SUPPORTED
     *     for an import that was passed on once already, and for passing writable memory on as
     *     read-only
     */
    public ExportedRegion reexport(
            ImportedRegion parent, boolean writable, @Nullable LeaseListener listener) {
        requireOpen();
        return exports.reexport(parent, writable, listener);
    }

    /**
     * Asks the exporter's bus thread for a region.
     *
     * @param map whether to map and prefault it for use here; otherwise it can only be passed on
     * @param timeoutNanos how long the exporter has to answer; mapping takes what it takes, in
     *     slices on threads of its own
     * @return completes on the bus thread, with an {@link ImportedRegion} or a {@link
     *     FabricException}; cancelling it ends the attempt and gives back what has come of it
     * @throws FabricException NOT_FOUND if it belongs to another kernel or fabric folder; TOO_BIG
     *     if it is larger than this bus imports. The future fails with LIMIT where more memory of
     *     this peer or of all peers would be mapped than is allowed, and with MALFORMED where the
     *     exporter takes the blocks of the memory away meanwhile
     */
    public CompletableFuture<ImportedRegion> importRegion(
            RegionAddress region, boolean writable, boolean map, long timeoutNanos) {
        requireOpen();
        requireHere("kernel", region.bootId(), bootId);
        requireHere("fabric", region.fabricId(), folder.id());
        if (region.sizeBytes() > config.maxImportBytes()) {
            throw new FabricException(
                    FabricException.Kind.TOO_BIG,
                    "region is larger than what is imported here: sizeBytes="
                            + region.sizeBytes()
                            + ", limitBytes="
                            + config.maxImportBytes()
                            + ", region="
                            + region.regionId());
        }
        Frame.Lease request = new Frame.Lease(region.regionId(), region.key(), writable);
        return MappedAnswer.follow(
                this,
                new OutgoingHandshake<>(
                                this,
                                exporterName(region.busId()),
                                Frame.encode(request),
                                new int[0],
                                timeoutNanos,
                                new Answers.Grants(this, region, writable, map))
                        .begin());
    }

    /**
     * Serves a name.
     *
     * @throws FabricException IN_USE if a living process serves it; SYSTEM if it cannot be bound
     */
    public Endpoint listen(String name, EndpointListener listener) {
        requireOpen();
        Endpoint endpoint = Endpoint.open(this, name, listener);
        endpoints.add(endpoint);
        if (closed.get()) { // close() may have looked before the name was there
            endpoint.close();
            requireOpen();
        }
        return endpoint;
    }

    /**
     * Connects to a name. The inbound memory is sealed and given to the peer, writable.
     *
     * @param payload what the other side's listener gets to see, at most 4,096 bytes
     * @return completes on the bus thread; fails at once with NOT_FOUND where nobody serves the
     *     name; cancelling it ends the attempt and gives back what has come of it
     */
    public CompletableFuture<Attachment> connect(
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
        if (!inbound.retain()) {
            throw SharedSegment.gone();
        }
        OutgoingHandshake<MappedAnswer.Checked<Attachment>> handshake =
                new OutgoingHandshake<>(
                        this,
                        name,
                        Frame.encode(new Frame.Hello(inbound.sizeBytes(), payload)),
                        new int[] {inbound.descriptor()},
                        timeoutNanos,
                        new Answers.Welcomes(this));
        // Held until the bus thread has sent it: by then the caller may have let go of it, and the
        // number of its descriptor stand for something that is not the peer's to have.
        return MappedAnswer.follow(this, handshake.begin(() -> release(inbound)));
    }

    /**
     * Counts one user of shared memory less. Where it was the last a mapping worker unmaps the
     * memory, so this returns at once and may be called on any thread, inside progress too.
     */
    public void release(SharedSegment memory) {
        memory.release(this, () -> {});
    }

    /**
     * Runs work on a mapping worker, for what takes long and is done for a peer, such as allocating
     * memory for it.
     *
     * @param peerPid process id of the peer; peers take turns
     * @param work runs once
     */
    public void runForPeer(int peerPid, Runnable work) {
        workers.submit(
                peerPid,
                () -> {
                    work.run();
                    return false;
                });
    }

    /**
     * The memory of all peers together that a process should have mapped at most, where its user
     * names no limit: half of the machine's memory, or of what the memory cgroup allows where that
     * is less.
     *
     * @throws FabricException SYSTEM if the kernel does not tell them
     */
    public static long defaultMaxMappedBytes() {
        try {
            return MemoryLimits.totalBytes() / 2;
        } catch (UncheckedIOException | IllegalStateException e) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM,
                    "limit of mapped memory not known, give one when the machine is opened: "
                            + e.getMessage(),
                    e);
        }
    }

    /** Bytes of memory of peers that are mapped here now, or are about to be. */
    public long mappedBytesOfPeers() {
        return mappedBytes.allBytes();
    }

    /** Work that is due some time. */
    public interface Alarm {
        /** Forgets the work, unless it has run or runs now. Any thread; again: nothing happens. */
        void cancel();
    }

    /**
     * Runs the work once on the bus thread, not before the delay is over and never after the bus
     * has closed: for time limits above, so that an engine that sleeps is woken by a post.
     *
     * @param delayNanos how long to wait; 0 or less means soon
     * @return to cancel it by when it is needed no more; until then the bus holds the work
     */
    public Alarm after(long delayNanos, Runnable work) {
        requireOpen();
        return loop.schedule(System.nanoTime() + Math.max(0, delayNanos), work);
    }

    /** Leaves the fabric: names, exports and links of this bus end. Waits for the bus thread. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            try {
                List.copyOf(endpoints).forEach(Endpoint::close);
                exports.revokeAll();
            } finally { // a folder that cannot be cleaned must not keep the thread alive
                loop.shutdown();
                if (!workers.end(UNMAPPING_PATIENCE_NANOS)) {
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "memory is not unmapped yet: folder=" + folder.path());
                }
                receiveBuffer.close();
                if (!closer.end(CLOSER_PATIENCE_NANOS)) {
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "descriptors of peers are not closed yet: folder=" + folder.path());
                }
                folder.close();
            }
        }
    }

    // ---- for the handshakes and regions of this package ----

    BusLoop loop() {
        return loop;
    }

    FabricFolder fabricFolder() {
        return folder;
    }

    boolean closed() {
        return closed.get();
    }

    /** Whether links go because this bus does, be it closed or for want of its thread. */
    boolean ending() {
        return closed.get() || loop.ending();
    }

    int uid() {
        return uid;
    }

    long handshakeTimeoutNanos() {
        return config.handshakeTimeoutNanos();
    }

    long maxImportBytes() {
        return config.maxImportBytes();
    }

    /** Largest memory that comes with a client or a server, for its rings. */
    long maxJoiningBytes() {
        return Math.min(MAX_JOINING_BYTES, config.maxImportBytes());
    }

    /** The one receive buffer; on the bus thread, emptied by the message's close. */
    ReceivedMessage receiveBuffer() {
        return receiveBuffer;
    }

    /** Maps and unmaps, on threads that may take their time. */
    MappingWorkers workers() {
        return workers;
    }

    /** Account of the memory of peers that is mapped here. */
    MappedBytes mappedBytes() {
        return mappedBytes;
    }

    /** Closes what a peer has chosen, on threads that it may keep. */
    DescriptorCloser closer() {
        return closer;
    }

    /** Clients that have said nothing yet; on the bus thread. */
    PendingHandshakes handshakes() {
        return handshakes;
    }

    void endpointClosed(Endpoint endpoint) {
        endpoints.remove(endpoint);
    }

    /** Makes a watched link of a socket, on the bus thread. */
    Link newLink(int socket, PeerCredentials peer) {
        boolean descriptorsRefused = UnixSocket.refuseDescriptors(socket);
        Link link = new Link(this, socket, peer.uid(), peer.pid(), descriptorsRefused);
        loop.watch(link);
        return link;
    }

    void dispose(Link link) {
        loop.execute(() -> {
            link.endWatch();
            closer.closeSocket(link.descriptor());
        });
    }

    /** Regions that others may import. */
    Exports exports() {
        return exports;
    }

    /** Sends one frame with descriptors, without blocking; 0 or an errno. */
    static int sendFrame(int socket, byte[] frame, int... descriptors) {
        try (Arena arena = Arena.ofConfined()) {
            return DescriptorPassing.send(
                    socket, Frame.toNative(frame, arena), frame.length, descriptors);
        }
    }

    private void requireHere(String what, RegionAddress.Id theirs, RegionAddress.Id ours) {
        if (!theirs.equals(ours)) {
            throw new FabricException(
                    FabricException.Kind.NOT_FOUND,
                    "region belongs to another " + what + ": theirs=" + theirs + ", ours=" + ours);
        }
    }

    /** Throws CLOSED once the bus has been closed. */
    void requireOpen() {
        if (closed.get()) {
            throw new FabricException(
                    FabricException.Kind.CLOSED, "bus closed: folder=" + folder.path());
        }
    }

    /** Number that nobody else has or guesses. */
    RegionAddress.Id randomId() {
        return new RegionAddress.Id(random.nextLong(), random.nextLong());
    }

    private static String exporterName(RegionAddress.Id busId) {
        return EXPORTER_PREFIX + busId;
    }

    private static RegionAddress.Id readBootId() {
        try {
            UUID id =
                    UUID.fromString(
                            Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip());
            return new RegionAddress.Id(id.getMostSignificantBits(), id.getLeastSignificantBits());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
