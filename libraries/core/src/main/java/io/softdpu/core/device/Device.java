package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.internal.access.DependentsAccess;
import io.softdpu.core.internal.base.Dependents;
import io.softdpu.core.internal.base.ProfileCheck;
import io.softdpu.linux.text.Text;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Open local device, which mmaps and contexts use.
 *
 * <p>It keeps its machine open, and cannot be closed while an mmap, a context or a sync event that
 * is started, or a representor, uses it. Any thread.
 */
public final class Device implements AutoCloseable {
    static {
        DependentsAccess.install(Device.class, Device::dependents);
    }

    private final DeviceInfo info;
    private final Dependents dependents = new Dependents(() -> "device=" + this);
    private final Dependents.Dependency onMachine;

    Device(DeviceInfo info) {
        info.requirePresent();
        this.info = info;
        this.onMachine = info.machine().dependents().add("device " + info.pciAddress());
    }

    /** Description of the device. */
    public DeviceInfo info() {
        return info;
    }

    /** The machine that has it. */
    public Machine machine() {
        return info.machine();
    }

    /**
     * A snapshot of the representors of the functions that this port created. Later changes by
     * hotplug appear in new lists only.
     *
     * @return empty for a device of the DPU that is not a port
     * @throws DpuException NOT_SUPPORTED on any side but the DPU; BAD_STATE if the device is closed
     */
    public List<RepresentorInfo> representors() {
        return representors(RepresentorFilter.ALL);
    }

    /** The same, only of those that pass the filter. */
    public List<RepresentorInfo> representors(RepresentorFilter filter) {
        Arguments.notNull(filter, "filter");
        dependents.requireOpen();
        if (machine().side() != Side.DPU) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "representors exist on the DPU only: device=%s, side=%s",
                            this, machine().side().id()));
        }
        return machine().topologyNow().childrenOf(info.function()).stream()
                .filter(filter::matches)
                .map(function -> new RepresentorInfo(this, function))
                .toList();
    }

    /**
     * The representor with this name.
     *
     * @param id the PCI address that it shares with its function, in the short or the long form,
     *     its own interface name, or the vuid that it shares with the function
     * @throws DpuException NOT_FOUND if there is none; the message lists the existing ones;
     *     NOT_SUPPORTED on any side but the DPU; BAD_STATE if the device is closed
     */
    public RepresentorInfo findRepresentor(String id) {
        Arguments.notNull(id, "id");
        List<RepresentorInfo> representors = representors();
        for (RepresentorInfo representor : representors) {
            if (representor.matchesId(id)) {
                return representor;
            }
        }
        throw new DpuException(
                Status.NOT_FOUND,
                Text.format(
                        "no such representor: representor=%s, device=%s, available=%s",
                        id, this, representors));
    }

    /**
     * Hot-plugs a function while the programs of the card are running: their new lists contain it,
     * or its representor; existing lists do not change.
     *
     * @param function a child of this port ({@link PciFunction#parent()}), on any side; it becomes
     *     {@linkplain PciFunction#hotplugged() hotplugged}
     * @return its representor
     * @throws DpuException NOT_SUPPORTED unless this is a port of the DPU; INVALID_VALUE if the
     *     function belongs to another port, has a limit that its library does not declare, or 0
     *     where the library needs more (unless this program does not have the library), or
     *     conflicts with the existing ones (a name or an address is taken, there are too many);
     *     BAD_STATE if the device is closed; TIME_OUT if another process keeps the list of
     *     functions locked
     */
    public RepresentorInfo plug(PciFunction function) {
        requireOwn(function);
        ProfileCheck.require(function.key(), function.profile());
        PciFunction plugged = function.toBuilder().hotplugged(true).build();
        change(now -> Hotplug.plug(now, plugged));
        return new RepresentorInfo(this, plugged);
    }

    /**
     * Unplugs a hot-plugged function. Open devices and representors of it stay open until they are
     * closed; opening it again fails with NOT_FOUND.
     *
     * @throws DpuException NOT_SUPPORTED unless this is a port of the DPU; INVALID_VALUE if the
     *     function belongs to another port; NOT_FOUND if it does not exist any more; NOT_PERMITTED
     *     if it was not hot-plugged; BAD_STATE if the device is closed; TIME_OUT as {@link #plug}
     */
    public void unplug(RepresentorInfo representor) {
        PciFunction function = Arguments.notNull(representor, "representor").function();
        requireOwn(function);
        change(now -> Hotplug.unplug(now, function));
    }

    /**
     * Changes the properties of a function of this port, as a reset of the bus does to an address:
     * new lists have them, existing lists do not.
     *
     * @param function the new properties; side, interface name and port identify the function
     * @return its representor with the new properties
     * @throws DpuException NOT_SUPPORTED unless this is a port of the DPU; INVALID_VALUE if the
     *     function belongs to another port, has a limit that its library does not declare, or 0
     *     where the library needs more (unless this program does not have the library), or
     *     conflicts with the others; NOT_FOUND if there is none; BAD_STATE if the device is closed;
     *     TIME_OUT as {@link #plug}
     */
    public RepresentorInfo change(PciFunction function) {
        requireOwn(function);
        ProfileCheck.require(function.key(), function.profile());
        Topology now = change(before -> Hotplug.change(before, function));
        return new RepresentorInfo(this, now.functionByKey(function.key()).orElseThrow());
    }

    private Topology change(UnaryOperator<Topology> change) {
        return machine().changeTopology(change);
    }

    private void requireOwn(PciFunction function) {
        Arguments.notNull(function, "function");
        dependents.requireOpen();
        if (!info.isHotplugManagerSupported()) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "functions are plugged through a port of the DPU: device=%s, side=%s",
                            this, machine().side().id()));
        }
        if (!info.interfaceName().equals(function.parent())) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "function belongs to another port: function=%s, parent=%s, device=%s",
                            function.key(), function.parent(), this));
        }
    }

    /**
     * Closes the device; closing twice does nothing.
     *
     * @throws DpuException IN_USE if it has dependents; the message names them
     */
    @Override
    public void close() {
        if (dependents.close()) {
            onMachine.release();
        }
    }

    /** Address and interface name. */
    @Override
    public String toString() {
        return info.pciAddress() + " " + info.interfaceName();
    }

    Dependents dependents() {
        return dependents;
    }
}
