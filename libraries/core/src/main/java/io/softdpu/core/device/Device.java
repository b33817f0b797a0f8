package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.internal.access.UsageAccess;
import io.softdpu.core.internal.base.ProfileCheck;
import io.softdpu.core.internal.base.Usage;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * An open local device: what mmaps are given access through and contexts work on.
 *
 * <p>It keeps its machine open, and stays open while an mmap, a context or a representor lives on
 * it. Any thread.
 */
public final class Device implements AutoCloseable {
    static {
        UsageAccess.install(Device.class, Device::usage);
    }

    private final DeviceInfo info;
    private final Usage usage = new Usage(() -> "device=" + this);
    private final Usage.Hold onMachine;

    Device(DeviceInfo info) {
        info.requireThere();
        this.info = info;
        this.onMachine = info.machine().usage().hold("device " + info.pciAddress());
    }

    /** What was opened. */
    public DeviceInfo info() {
        return info;
    }

    /** The machine that has it. */
    public Machine machine() {
        return info.machine();
    }

    /**
     * A snapshot of the representors of all functions that this port made, and of no other. What is
     * plugged in, unplugged or changed later shows in a new list alone.
     *
     * @return empty for a device of the DPU that is no port
     * @throws DpuException NOT_SUPPORTED on any side but the DPU; BAD_STATE if the device is closed
     */
    public List<RepresentorInfo> representors() {
        return representors(RepresentorFilter.ALL);
    }

    /** The same, of those alone that the filter takes. */
    public List<RepresentorInfo> representors(RepresentorFilter filter) {
        Arguments.notNull(filter, "filter");
        usage.requireOpen();
        if (machine().side() != Side.DPU) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    "representors exist on the DPU alone: device=%s, side=%s"
                            .formatted(this, machine().side().id()));
        }
        return machine().topologyNow().childrenOf(info.function()).stream()
                .filter(filter::matches)
                .map(function -> new RepresentorInfo(info.function(), function))
                .toList();
    }

    /**
     * The representor with this name.
     *
     * @param id the PCI address that it shares with the function it stands for, in the short or the
     *     long form, its own interface name, or the vuid that it shares with the function
     * @throws DpuException NOT_FOUND if there is none, listing those that there are; NOT_SUPPORTED
     *     on any side but the DPU; BAD_STATE if the device is closed
     */
    public RepresentorInfo findRepresentor(String id) {
        Arguments.notNull(id, "id");
        List<RepresentorInfo> representors = representors();
        for (RepresentorInfo representor : representors) {
            if (representor.answersTo(id)) {
                return representor;
            }
        }
        throw new DpuException(
                Status.NOT_FOUND,
                "no such representor: representor=%s, device=%s, available=%s"
                        .formatted(id, this, representors));
    }

    /**
     * Plugs a function in while the programs of the card are running: each of their new lists has
     * it, or its representor; lists that they have taken before stay as they are.
     *
     * @param function made by this port ({@link PciFunction#parent()}), on any side; it counts as
     *     {@linkplain PciFunction#hotplugged() hotplugged} from now on
     * @return its representor
     * @throws DpuException NOT_SUPPORTED unless this is a port of the DPU; INVALID_VALUE if the
     *     function belongs to another port, has a limit that its library does not declare (unless
     *     this program does not have the library), or does not fit to those that there are (a name
     *     or an address is taken, there are too many); BAD_STATE if the device is closed
     */
    public RepresentorInfo plug(PciFunction function) {
        requireOwn(function);
        ProfileCheck.require(function.key(), function.profile());
        PciFunction plugged = function.toBuilder().hotplugged(true).build();
        change(now -> Hotplug.plug(now, plugged));
        return new RepresentorInfo(info.function(), plugged);
    }

    /**
     * Takes a function away that was plugged in. Who has opened it keeps it until he closes it;
     * opening it once more is NOT_FOUND.
     *
     * @throws DpuException NOT_SUPPORTED unless this is a port of the DPU; INVALID_VALUE if the
     *     function belongs to another port; NOT_FOUND if it is gone; NOT_PERMITTED if the card came
     *     with it; BAD_STATE if the device is closed
     */
    public void unplug(RepresentorInfo representor) {
        PciFunction function = Arguments.notNull(representor, "representor").function();
        requireOwn(function);
        change(now -> Hotplug.unplug(now, function));
    }

    /**
     * Gives a function of this port other properties, as a reset of the bus does to an address: new
     * lists have them, lists taken before do not.
     *
     * @param function all properties as they shall be; side, interface and port say which function
     *     it is
     * @return its representor with the new properties
     * @throws DpuException NOT_SUPPORTED unless this is a port of the DPU; INVALID_VALUE if the
     *     function belongs to another port, has a limit that its library does not declare (unless
     *     this program does not have the library), or no longer fits to the others; NOT_FOUND if
     *     there is none; BAD_STATE if the device is closed
     */
    public RepresentorInfo change(PciFunction function) {
        requireOwn(function);
        ProfileCheck.require(function.key(), function.profile());
        Topology now = change(before -> Hotplug.change(before, function));
        return new RepresentorInfo(
                info.function(), now.functionByKey(function.key()).orElseThrow());
    }

    private Topology change(UnaryOperator<Topology> change) {
        return machine().changeTopology(change);
    }

    private void requireOwn(PciFunction function) {
        Arguments.notNull(function, "function");
        usage.requireOpen();
        if (!info.isHotplugManagerSupported()) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    "functions are plugged through a port of the DPU: device=%s, side=%s"
                            .formatted(this, machine().side().id()));
        }
        if (!info.interfaceName().equals(function.parent())) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "function belongs to another port: function=%s, parent=%s, device=%s"
                            .formatted(function.key(), function.parent(), this));
        }
    }

    /**
     * Closes the device; closing twice does nothing.
     *
     * @throws DpuException IN_USE if something lives on it; the message names it
     */
    @Override
    public void close() {
        if (usage.close()) {
            onMachine.release();
        }
    }

    /** Address and interface name. */
    @Override
    public String toString() {
        return info.pciAddress() + " " + info.interfaceName();
    }

    Usage usage() {
        return usage;
    }
}
