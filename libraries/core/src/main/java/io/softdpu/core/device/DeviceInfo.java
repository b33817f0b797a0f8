package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.linux.text.Text;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.util.List;

/**
 * Description of a local device of a machine; opens nothing.
 *
 * <p>Taken from {@link Machine#devices()} or {@link Machine#findDevice}. Any thread.
 */
public final class DeviceInfo {
    private final Machine machine;
    private final PciFunction function;

    private DeviceInfo(Machine machine, PciFunction function) {
        this.machine = machine;
        this.function = function;
    }

    /**
     * A snapshot of a machine's local devices: physical functions first, then virtual, then sub.
     * Later changes by hotplug appear in new lists only.
     */
    public static List<DeviceInfo> listOf(Machine machine) {
        Arguments.notNull(machine, "machine");
        return machine.topologyNow().functionsOf(machine.side()).stream()
                .map(function -> new DeviceInfo(machine, function))
                .toList();
    }

    /**
     * The machine's device with this name.
     *
     * @param id a PCI address in the short or the long form, an ibdev name, or an interface name;
     *     an address shared by a port and its sub functions selects the port
     * @throws DpuException NOT_FOUND if there is none; the message lists the existing ones, and the
     *     other sides that have one with this name
     */
    public static DeviceInfo find(Machine machine, String id) {
        Arguments.notNull(id, "id");
        List<DeviceInfo> devices = listOf(machine);
        for (DeviceInfo device : devices) {
            if (device.matchesId(id)) {
                return device;
            }
        }
        List<Side> others = othersWith(machine, id);
        throw new DpuException(
                Status.NOT_FOUND,
                Text.format(
                        "no such device: device=%s, side=%s%s, available=%s%s",
                        id,
                        machine.side().id(),
                        others.isEmpty() ? "" : ", otherSides=" + ids(others),
                        devices,
                        others.isEmpty()
                                ? ""
                                : ", expected=one of these, or a machine of the side "
                                        + others.getFirst().id()));
    }

    /** The other sides that have a function with this name. */
    private static List<Side> othersWith(Machine machine, String id) {
        return machine.topologyNow().functions().stream()
                .filter(function -> function.side() != machine.side())
                .filter(function -> new DeviceInfo(machine, function).matchesId(id))
                .map(PciFunction::side)
                .distinct()
                .toList();
    }

    private static List<String> ids(List<Side> sides) {
        return sides.stream().map(Side::id).toList();
    }

    /**
     * Opens the device. Each call returns a separate device, to be closed separately.
     *
     * @throws DpuException NOT_FOUND if it was unplugged since the list was taken; BAD_STATE if the
     *     machine is closed
     */
    public Device open() {
        return new Device(this);
    }

    /** The machine that has the device. */
    public Machine machine() {
        return machine;
    }

    /** Its function in the topology. */
    public PciFunction function() {
        return function;
    }

    /** Its PCI address; a sub function has that of its port. */
    public PciAddress pciAddress() {
        return function.pciAddress();
    }

    /**
     * Whether its PCI address is this one; the short form means domain 0.
     *
     * @param address in the short form {@code 0b:00.0} or the long form {@code 0000:0b:00.0}
     * @throws DpuException INVALID_VALUE if the text has neither form
     */
    public boolean hasPciAddress(String address) {
        return pciAddress().equals(PciAddress.of(Arguments.notNull(address, "address")));
    }

    /** The name of its RDMA device. */
    public String ibdevName() {
        return function.ibdevName();
    }

    /** The name of its network interface. */
    public String interfaceName() {
        return function.interfaceName();
    }

    /** Physical, virtual or sub function. */
    public FunctionType functionType() {
        return function.type();
    }

    /** Its IPv4 address. */
    public Inet4Address ipv4() {
        return function.ipv4();
    }

    /** Its IPv6 address, the link-local one unless the topology gives another. */
    public Inet6Address ipv6() {
        return function.ipv6();
    }

    /** Its MAC address, six bytes in hex with colons. */
    public String macAddress() {
        return function.macAddress();
    }

    /** The vendor's unique name, the same for the representor of this device. */
    public String vuid() {
        return function.vuid();
    }

    /** The rate of its link in bits per second. */
    public long activeRateBitsPerSecond() {
        return function.activeRateBitsPerSecond();
    }

    /** Whether memory can be exported over PCIe through it: it is a child of a port of the DPU. */
    public boolean isMmapExportPciSupported() {
        return function.parent() != null;
    }

    /** Whether memory exported over PCIe can be imported through it: it is a port of the DPU. */
    public boolean isMmapFromExportPciSupported() {
        return isPort();
    }

    /** Whether it has representors: it is a port of the DPU. */
    public boolean isRepresentorListSupported() {
        return isPort();
    }

    /** Whether functions can be plugged in through it at run time: it is a port of the DPU. */
    public boolean isHotplugManagerSupported() {
        return isPort();
    }

    /** Address, ibdev and interface name, for lists in messages. */
    @Override
    public String toString() {
        return pciAddress() + " " + ibdevName() + " " + interfaceName();
    }

    /** A snapshot may be older than what there is. */
    void requirePresent() {
        if (machine.topologyNow().functionByKey(function.key()).isEmpty()) {
            throw new DpuException(
                    Status.NOT_FOUND,
                    Text.format(
                            "device was unplugged since the list was taken: device=%s, side=%s",
                            this, machine.side().id()));
        }
    }

    private boolean isPort() {
        return function.side() == Side.DPU && function.type() == FunctionType.PF;
    }

    private boolean matchesId(String id) {
        return id.equals(ibdevName())
                || id.equals(interfaceName())
                || pciAddress().equals(PciAddress.parse(id));
    }
}
