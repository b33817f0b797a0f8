package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.internal.access.MachineAccess;
import io.softdpu.core.internal.base.Dependents;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.core.internal.base.ProfileCheck;
import io.softdpu.core.spi.memory.ProtectionDomain;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.text.Text;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Machine that a program runs on: its side, and the topology of the card.
 *
 * <p>Several machines may be open in one program, so that a test can have both sides in one JVM.
 * Objects of one (devices, and memory exported through them) cannot be used with those of another.
 * Any thread.
 */
public final class Machine implements AutoCloseable {
    private static final List<Machine> OPEN = new CopyOnWriteArrayList<>();

    static {
        MachineAccess.install(
                new MachineAccess<>(Machine.class) {
                    @Override
                    public Bus bus(Machine machine) {
                        return machine.bus;
                    }

                    @Override
                    public ProtectionDomain domain(Machine machine, String functionKey) {
                        return machine.domains.computeIfAbsent(functionKey, ProtectionDomain::new);
                    }

                    @Override
                    public void requireCapacity(Machine machine, long sizeBytes) {
                        machine.requireCapacity(sizeBytes);
                    }

                    @Override
                    public void requireCapacityOnAll(long sizeBytes) {
                        OPEN.forEach(machine -> machine.requireCapacity(sizeBytes));
                    }
                });
    }

    /** Default limit of retained memory, beyond which new memory is refused: 4 GiB. */
    public static final long DEFAULT_RETAINED_LIMIT_BYTES = 4L << 30;

    /** Default size limit of imports: 64 GiB. */
    public static final long DEFAULT_IMPORT_LIMIT_BYTES = 64L << 30;

    /** Default time limit for the request of a peer that connects: 5 seconds. */
    public static final Duration DEFAULT_HANDSHAKE_TIMEOUT = Duration.ofSeconds(5);

    private final Side side;
    private final Topology topology;
    private final long retainedLimitBytes;
    private final long importedBytesLimit;
    private final long importedBytesLimitPerPeer;
    private final Bus bus;
    private final HotplugFile hotplug;

    /** By function: all that were opened from one function are one device. */
    private final Map<String, ProtectionDomain> domains = new ConcurrentHashMap<>();

    private final Dependents dependents = new Dependents(() -> "machine=" + this);

    private Machine(
            Builder builder,
            Topology topology,
            Bus bus,
            long importedBytesLimit,
            long importedBytesLimitPerPeer) {
        this.side = builder.side;
        this.topology = topology;
        this.hotplug = new HotplugFile(topology);
        this.retainedLimitBytes = builder.retainedLimitBytes;
        this.importedBytesLimit = importedBytesLimit;
        this.importedBytesLimitPerPeer = importedBytesLimitPerPeer;
        this.bus = bus;
        OPEN.add(this);
    }

    /**
     * Opens a machine on this side of the topology {@linkplain Topology#fromEnvironment() of the
     * environment}, the built-in one unless that names another, in the default fabric folder.
     */
    public static Machine open(Side side) {
        return builder(side).open();
    }

    /** Creates a builder of a machine on this side. */
    public static Builder builder(Side side) {
        return new Builder(side);
    }

    /** The side of the machine. */
    public Side side() {
        return side;
    }

    /**
     * The topology with which the machine was opened: the same for all programs of the fabric
     * folder.
     */
    public Topology topology() {
        return topology;
    }

    /**
     * The current topology, with the functions that the DPU's programs have plugged in, unplugged
     * and changed since the first program joined the folder ({@link Device#plug}); a snapshot.
     *
     * @throws DpuException BAD_CONFIG if the hotplug file cannot be read; OPERATING_SYSTEM
     */
    public Topology topologyNow() {
        if (dependents.isClosed()) {
            return topology;
        }
        try {
            return hotplug.read(bus.hotplugText());
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    /**
     * Limit in bytes of the memory of all peers together that is mapped here; the capability {@code
     * core.max_imported_bytes}.
     */
    public long importedBytesLimit() {
        return importedBytesLimit;
    }

    /**
     * Limit in bytes of the memory of one peer process that is mapped here; the capability {@code
     * core.max_imported_bytes_per_peer}.
     */
    public long importedBytesLimitPerPeer() {
        return importedBytesLimitPerPeer;
    }

    /** The folder that the programs of this card share. */
    public Path fabricFolder() {
        return bus.folder();
    }

    /**
     * A snapshot of the local devices of this machine: physical functions first, then virtual, then
     * sub. Later changes by hotplug appear in new lists only.
     */
    public List<DeviceInfo> devices() {
        return DeviceInfo.listOf(this);
    }

    /**
     * The local device with this name.
     *
     * @param id a PCI address in the short or the long form, an ibdev name, or an interface name;
     *     an address shared by a port and its sub functions selects the port
     * @throws DpuException NOT_FOUND if there is none; the message lists the existing ones, and the
     *     other sides that have one with this name
     */
    public DeviceInfo findDevice(String id) {
        return DeviceInfo.find(this, id);
    }

    /**
     * Closes the machine and leaves the fabric folder; idempotent.
     *
     * @throws DpuException IN_USE while a device is open; the message names it
     */
    @Override
    public void close() {
        if (dependents.close()) {
            OPEN.remove(this);
            bus.close();
        }
    }

    /** The side and the topology. */
    @Override
    public String toString() {
        return side.id() + " of " + topology;
    }

    /** The objects that keep the machine open. */
    Dependents dependents() {
        return dependents;
    }

    /**
     * Changes the current topology, for all programs of the fabric folder.
     *
     * @param change gets the current topology and returns the new one; if it throws, nothing is
     *     changed
     * @return the new topology
     */
    Topology changeTopology(UnaryOperator<Topology> change) {
        dependents.requireOpen();
        try {
            bus.updateHotplugText(text -> hotplug.write(change.apply(hotplug.read(text))));
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
        return topologyNow();
    }

    /**
     * Refuses new memory beyond the limit of retained memory: a peer that was stopped in the middle
     * of a copy may still write when it continues, so memory that it has mapped is not released,
     * and a peer must not make this program retain more and more.
     */
    private void requireCapacity(long sizeBytes) {
        long retainedBytes = bus.retainedBytes();
        if (retainedBytes > retainedLimitBytes) {
            throw new DpuException(
                    Status.NO_MEMORY,
                    Text.format(
                            "peers hold too much memory of revoked exports: retainedBytes=%d,"
                                    + " limitBytes=%d, sizeBytes=%d, machine=%s",
                            retainedBytes, retainedLimitBytes, sizeBytes, this));
        }
    }

    /** Builder of a machine. Belongs to one thread. */
    public static final class Builder {
        private final Side side;

        /** Null for that of the environment, read when the machine is opened. */
        private @Nullable Topology topology;

        private @Nullable Path fabricFolder;
        private long retainedLimitBytes = DEFAULT_RETAINED_LIMIT_BYTES;
        private long importLimitBytes = DEFAULT_IMPORT_LIMIT_BYTES;

        /** 0 for the default, which is determined when the machine is opened. */
        private long importedBytesLimit;

        /** 0 for the default share of one peer. */
        private long importedBytesLimitPerPeer;

        private long handshakeTimeoutNanos = DEFAULT_HANDSHAKE_TIMEOUT.toNanos();

        private Builder(Side side) {
            this.side = Arguments.notNull(side, "side");
        }

        /**
         * Sets the topology, instead of that {@linkplain Topology#fromEnvironment() of the
         * environment}; all programs of a fabric folder need equal ones.
         */
        public Builder topology(Topology topology) {
            this.topology = Arguments.notNull(topology, "topology");
            return this;
        }

        /**
         * Sets the folder that the programs of this card share, created if it is missing; instead
         * of {@code SOFTDPU_FABRIC}, an absolute path, else {@code $XDG_RUNTIME_DIR/softdpu}, else
         * {@code /tmp/softdpu-UID}.
         */
        public Builder fabricFolder(Path folder) {
            this.fabricFolder = Arguments.notNull(folder, "folder");
            return this;
        }

        /**
         * Limits the memory of revoked exports that peers still hold; beyond it new shared memory
         * and new exports fail with NO_MEMORY; instead of {@link
         * Machine#DEFAULT_RETAINED_LIMIT_BYTES}.
         *
         * @throws DpuException INVALID_VALUE if it is negative
         */
        public Builder retainedLimitBytes(long limitBytes) {
            this.retainedLimitBytes = atLeast(0, "retainedLimitBytes", limitBytes);
            return this;
        }

        /**
         * Limits the size of imports; instead of {@link Machine#DEFAULT_IMPORT_LIMIT_BYTES}.
         *
         * @throws DpuException INVALID_VALUE if it is not positive
         */
        public Builder importLimitBytes(long limitBytes) {
            this.importLimitBytes = atLeast(1, "importLimitBytes", limitBytes);
            return this;
        }

        /**
         * Limits the memory of peers that is mapped here at the same time, in whole pages: imports
         * with access, the consumers of Comm Channel peers, and rings. Mapping may cost as much
         * memory of this process, whatever the peer does. A mapping that would exceed the limit
         * fails with FULL before anything is mapped; memory that is only re-exported does not
         * count, and memory of an import that was closed counts until it is unmapped, 0.1 s per GiB
         * later.
         *
         * <p>The default is half of the machine's memory, or of the limit of the memory cgroup of
         * this process if that is less. One peer process may have three quarters of the limit, so
         * that it cannot displace all others; {@link #importedBytesLimitPerPeer} changes that.
         *
         * @param limitBytes of all peers together
         * @throws DpuException INVALID_VALUE if it is not positive
         */
        public Builder importedBytesLimit(long limitBytes) {
            this.importedBytesLimit = atLeast(1, "importedBytesLimit", limitBytes);
            return this;
        }

        /**
         * Limits the memory of one peer process that is mapped here at the same time; instead of
         * three quarters of {@link #importedBytesLimit}.
         *
         * @param limitBytes of each peer process
         * @throws DpuException INVALID_VALUE if it is not positive
         */
        public Builder importedBytesLimitPerPeer(long limitBytes) {
            this.importedBytesLimitPerPeer = atLeast(1, "importedBytesLimitPerPeer", limitBytes);
            return this;
        }

        /**
         * Limits the time for the request of a peer that connects; instead of {@link
         * Machine#DEFAULT_HANDSHAKE_TIMEOUT}.
         *
         * @throws DpuException INVALID_VALUE if it is not positive
         */
        public Builder handshakeTimeout(Duration timeout) {
            this.handshakeTimeoutNanos = Arguments.positiveNanos(timeout, "timeout");
            return this;
        }

        /**
         * Opens the machine: joins the fabric folder.
         *
         * @throws DpuException INVALID_VALUE if the topology has a limit that its library does not
         *     declare, or 0 where the library needs more, unless this program does not have the
         *     library, or {@code SOFTDPU_FABRIC} is needed and not an absolute path, or the path of
         *     the folder cannot be represented in the locale of this JVM; BAD_CONFIG if the folder
         *     is in use with another topology, naming both; NOT_PERMITTED if it is not private to
         *     this user, or holds a file of another program; OPERATING_SYSTEM if it cannot be used;
         *     TIME_OUT if another process keeps a file in it locked, naming that; as {@link
         *     Topology#fromEnvironment()} if no topology was set
         */
        public Machine open() {
            Topology card = topology == null ? Topology.fromEnvironment() : topology;
            card.functions()
                    .forEach(function -> ProfileCheck.require(function.key(), function.profile()));
            try {
                long all =
                        importedBytesLimit > 0 ? importedBytesLimit : Bus.defaultMaxMappedBytes();
                long onePeer =
                        importedBytesLimitPerPeer > 0 ? importedBytesLimitPerPeer : all - all / 4;
                return new Machine(
                        this,
                        card,
                        Bus.open(
                                new Bus.Config(
                                        fabricFolder,
                                        card.sha256(),
                                        card.name(),
                                        handshakeTimeoutNanos,
                                        importLimitBytes,
                                        all,
                                        onePeer)),
                        all,
                        onePeer);
            } catch (FabricException e) {
                throw FabricFailures.from(e, "Machine.open");
            }
        }

        private static long atLeast(long least, String what, long value) {
            if (value < least) {
                throw new DpuException(
                        Status.INVALID_VALUE,
                        Text.format(
                                "limit is too small: %s=%d, expected=%d or more",
                                what, value, least));
            }
            return value;
        }
    }
}
