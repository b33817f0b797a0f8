package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.internal.access.MachineAccess;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.core.internal.base.ProfileCheck;
import io.softdpu.core.internal.base.Usage;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * This program's place at the card: on which side it stands, and which card it is.
 *
 * <p>Several machines may be open in one program, so that both sides of a test fit into one JVM.
 * What belongs to one (devices, and memory exported through them) is not mixed with what belongs to
 * another. Any thread.
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
                    public void requireRoom(Machine machine, long sizeBytes) {
                        machine.requireRoom(sizeBytes);
                    }

                    @Override
                    public void requireRoomOnAll(long sizeBytes) {
                        OPEN.forEach(machine -> machine.requireRoom(sizeBytes));
                    }
                });
    }

    /** Memory that peers have not let go of, beyond which new memory is refused: 4 GiB. */
    public static final long DEFAULT_KEPT_BACK_LIMIT_BYTES = 4L << 30;

    /** The largest export that is imported: 64 GiB. */
    public static final long DEFAULT_IMPORT_LIMIT_BYTES = 64L << 30;

    /** What a peer that connects has time for to say what it wants: 5 seconds. */
    public static final long DEFAULT_HANDSHAKE_TIMEOUT_NANOS = 5_000_000_000L;

    private final Side side;
    private final Topology topology;
    private final long keptBackLimitBytes;
    private final long importedBytesLimit;
    private final long importedBytesLimitPerPeer;
    private final Bus bus;
    private final HotplugNote hotplug;
    private final Usage usage = new Usage(() -> "machine=" + this);

    private Machine(
            Builder builder, Bus bus, long importedBytesLimit, long importedBytesLimitPerPeer) {
        this.side = builder.side;
        this.topology = builder.topology;
        this.hotplug = new HotplugNote(topology);
        this.keptBackLimitBytes = builder.keptBackLimitBytes;
        this.importedBytesLimit = importedBytesLimit;
        this.importedBytesLimitPerPeer = importedBytesLimitPerPeer;
        this.bus = bus;
        OPEN.add(this);
    }

    /** Opens a machine on this side of the built-in card, in the default fabric folder. */
    public static Machine open(Side side) {
        return builder(side).open();
    }

    /** Starts the configuration of a machine on this side. */
    public static Builder builder(Side side) {
        return new Builder(side);
    }

    /** The side on which it stands. */
    public Side side() {
        return side;
    }

    /**
     * The card and the machines around it, as the machine was opened: the same for all programs of
     * the fabric folder.
     */
    public Topology topology() {
        return topology;
    }

    /**
     * The same with what the DPU's programs have plugged in, unplugged and changed since the first
     * of the programs that are in the folder came ({@link Device#plug}); a snapshot.
     *
     * @throws DpuException BAD_CONFIG if what was plugged in cannot be read; OPERATING_SYSTEM
     */
    public Topology topologyNow() {
        if (usage.isClosed()) {
            return topology;
        }
        try {
            return hotplug.read(bus.hotplugNote());
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    /**
     * The memory of all peers together, in bytes, that this machine has mapped at most; the
     * capability {@code core.max_imported_bytes}.
     */
    public long importedBytesLimit() {
        return importedBytesLimit;
    }

    /**
     * The memory of one peer process, in bytes, that this machine has mapped at most; the
     * capability {@code core.max_imported_bytes_per_peer}.
     */
    public long importedBytesLimitPerPeer() {
        return importedBytesLimitPerPeer;
    }

    /** The folder in which the programs of this card meet. */
    public Path fabricFolder() {
        return bus.folder();
    }

    /**
     * A snapshot of the local devices of this machine: physical functions first, then virtual, then
     * sub. What is plugged in or changed later shows in a new list alone.
     */
    public List<DeviceInfo> devices() {
        return DeviceInfo.listOf(this);
    }

    /**
     * The local device with this name.
     *
     * @param id a PCI address in the short or the long form, an ibdev name, or an interface name;
     *     an address that a port shares with its sub functions means the port
     * @throws DpuException NOT_FOUND if there is none; the message lists those that there are
     */
    public DeviceInfo findDevice(String id) {
        return DeviceInfo.find(this, id);
    }

    /**
     * Leaves the card; closing twice does nothing.
     *
     * @throws DpuException IN_USE while a device is open; the message names it
     */
    @Override
    public void close() {
        if (usage.close()) {
            OPEN.remove(this);
            bus.close();
        }
    }

    /** The side and the topology. */
    @Override
    public String toString() {
        return side.id() + " of " + topology;
    }

    /** What lives on the machine. */
    Usage usage() {
        return usage;
    }

    /**
     * Changes what there is on the card now, for all programs of the fabric folder.
     *
     * @param change is given what there is; what it throws changes nothing
     * @return what there is then
     */
    Topology changeTopology(UnaryOperator<Topology> change) {
        usage.requireOpen();
        try {
            bus.updateHotplugNote(note -> hotplug.write(change.apply(hotplug.read(note))));
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
        return topologyNow();
    }

    /**
     * A peer that was stopped in the middle of a copy may still write when it wakes, so what it has
     * mapped is not given back; nor may a peer make this program keep back more and more.
     */
    private void requireRoom(long sizeBytes) {
        long keptBackBytes = bus.keptBackBytes();
        if (keptBackBytes > keptBackLimitBytes) {
            throw new DpuException(
                    Status.NO_MEMORY,
                    "peers hold too much withdrawn memory: keptBackBytes=%d, limitBytes=%d, sizeBytes=%d, machine=%s"
                            .formatted(keptBackBytes, keptBackLimitBytes, sizeBytes, this));
        }
    }

    /** The configuration of a machine. Belongs to one thread. */
    public static final class Builder {
        private final Side side;
        private Topology topology = Topology.builtin();
        private @Nullable Path fabricFolder;
        private long keptBackLimitBytes = DEFAULT_KEPT_BACK_LIMIT_BYTES;
        private long importLimitBytes = DEFAULT_IMPORT_LIMIT_BYTES;

        /** 0 for the default, which is asked of the system when the machine is opened. */
        private long importedBytesLimit;

        /** 0 for the share of one peer. */
        private long importedBytesLimitPerPeer;

        private long handshakeTimeoutNanos = DEFAULT_HANDSHAKE_TIMEOUT_NANOS;

        private Builder(Side side) {
            this.side = Arguments.notNull(side, "side");
        }

        /**
         * The card, instead of the built-in one; all programs of a fabric folder need equal ones.
         */
        public Builder topology(Topology topology) {
            this.topology = Arguments.notNull(topology, "topology");
            return this;
        }

        /**
         * The folder in which the programs of this card meet, made where it is missing; instead of
         * {@code SOFTDPU_FABRIC}, else {@code $XDG_RUNTIME_DIR/softdpu}, else {@code
         * /tmp/softdpu-UID}.
         */
        public Builder fabricFolder(Path folder) {
            this.fabricFolder = Arguments.notNull(folder, "folder");
            return this;
        }

        /**
         * How much withdrawn memory peers may hold on to before new shared memory and new exports
         * fail with NO_MEMORY; instead of {@link Machine#DEFAULT_KEPT_BACK_LIMIT_BYTES}.
         *
         * @throws DpuException INVALID_VALUE if it is negative
         */
        public Builder keptBackLimitBytes(long limitBytes) {
            this.keptBackLimitBytes = atLeast(0, "keptBackLimitBytes", limitBytes);
            return this;
        }

        /**
         * The largest export that is imported; instead of {@link
         * Machine#DEFAULT_IMPORT_LIMIT_BYTES}.
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
         * memory of this process, whatever the peer does. What would exceed the limit fails with
         * FULL before anything is mapped; memory that is only passed on does not count, and memory
         * of an import that was closed counts until it is unmapped, 0.1 s per GiB later.
         *
         * <p>The default is half of the machine's memory, or of what the memory cgroup of this
         * process allows where that is less. One peer process may have three quarters of the limit,
         * so that it cannot keep the others out; {@link #importedBytesLimitPerPeer} changes that.
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
         * What a peer that connects has time for to say what it wants; instead of {@link
         * Machine#DEFAULT_HANDSHAKE_TIMEOUT_NANOS}.
         *
         * @throws DpuException INVALID_VALUE if it is not positive
         */
        public Builder handshakeTimeoutNanos(long timeoutNanos) {
            this.handshakeTimeoutNanos = atLeast(1, "handshakeTimeoutNanos", timeoutNanos);
            return this;
        }

        /**
         * Opens the machine: joins the fabric folder.
         *
         * @throws DpuException INVALID_VALUE if the topology has a limit that its library does not
         *     declare, unless this program does not have the library; BAD_CONFIG if the folder is
         *     in use with another topology, naming both; NOT_PERMITTED if it is not private to this
         *     user; OPERATING_SYSTEM if it cannot be used
         */
        public Machine open() {
            topology.functions()
                    .forEach(function -> ProfileCheck.require(function.key(), function.profile()));
            try {
                long all =
                        importedBytesLimit > 0 ? importedBytesLimit : Bus.defaultMaxMappedBytes();
                long onePeer =
                        importedBytesLimitPerPeer > 0 ? importedBytesLimitPerPeer : all - all / 4;
                return new Machine(
                        this,
                        Bus.open(
                                new Bus.Config(
                                        fabricFolder,
                                        topology.sha256(),
                                        topology.name(),
                                        handshakeTimeoutNanos,
                                        importLimitBytes,
                                        all,
                                        onePeer)),
                        all,
                        onePeer);
            } catch (FabricException e) {
                throw FabricFailures.from(e);
            }
        }

        private static long atLeast(long least, String what, long value) {
            if (value < least) {
                throw new DpuException(
                        Status.INVALID_VALUE,
                        "limit is too small: %s=%d, least=%d".formatted(what, value, least));
            }
            return value;
        }
    }
}
