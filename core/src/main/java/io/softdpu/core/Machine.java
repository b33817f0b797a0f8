package io.softdpu.core;

import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.Topology;
import io.softdpu.core.internal.MachineAccess;
import io.softdpu.core.internal.Usage;
import java.util.List;
import java.util.Objects;

/**
 * This program's place at the card: on which side it stands, and which card it is.
 *
 * <p>Several machines may be open in one program, so that both sides of a test fit into one JVM.
 * What belongs to one (devices, and memory exported through them) is not mixed with what belongs to
 * another. Any thread.
 */
public final class Machine implements AutoCloseable {
    static {
        MachineAccess.set(
                new MachineAccess() {
                    @Override
                    public Usage usage(Machine machine) {
                        return machine.usage;
                    }
                });
    }

    private final Side side;
    private final Topology topology;
    private final Usage usage = new Usage(() -> "machine=" + this);

    private Machine(Builder builder) {
        this.side = builder.side;
        this.topology = builder.topology;
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

    /** The card and the machines around it. */
    public Topology topology() {
        return topology;
    }

    /**
     * A snapshot of the local devices of this machine: physical functions first, then virtual, then
     * sub.
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
        usage.close();
    }

    /** The side and the topology. */
    @Override
    public String toString() {
        return side.id() + " of " + topology;
    }

    /** The configuration of a machine. Belongs to one thread. */
    public static final class Builder {
        private final Side side;
        private Topology topology = Topology.builtin();

        private Builder(Side side) {
            this.side = Objects.requireNonNull(side, "side");
        }

        /**
         * The card, instead of the built-in one; all programs of a fabric folder need equal ones.
         */
        public Builder topology(Topology topology) {
            this.topology = Objects.requireNonNull(topology, "topology");
            return this;
        }

        /** Opens the machine. */
        public Machine open() {
            return new Machine(this);
        }
    }
}
