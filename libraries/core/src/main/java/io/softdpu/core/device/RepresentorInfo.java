package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.linux.text.Text;
import java.util.Objects;

/**
 * Representor on a port of the DPU, which represents a function created by that port, on the host
 * or, for a sub function, on the DPU itself. A value of a snapshot; opens nothing.
 */
public final class RepresentorInfo {
    private final Device device;
    private final PciFunction function;

    RepresentorInfo(Device device, PciFunction function) {
        this.device = device;
        this.function = function;
    }

    /**
     * Opens the representor on the device that it was found on. Each call returns a separate
     * object, to be closed separately.
     *
     * @throws DpuException NOT_FOUND if the function was unplugged since the list was taken;
     *     BAD_STATE if the device is closed
     */
    public Representor open() {
        if (device.machine().topologyNow().functionByKey(function.key()).isEmpty()) {
            throw new DpuException(
                    Status.NOT_FOUND,
                    Text.format(
                            "function was unplugged since the list was taken: representor=%s,"
                                    + " device=%s",
                            this, device));
        }
        return new Representor(this, device);
    }

    /** The function that it represents. */
    public PciFunction function() {
        return function;
    }

    /** The port that created the function. */
    public PciFunction port() {
        return device.info().function();
    }

    /** The PCI address, the same as that of the function. */
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

    /** The type of the function. */
    public FunctionType functionType() {
        return function.type();
    }

    /** The vendor's unique name, the same as that of the function. */
    public String vuid() {
        return function.vuid();
    }

    /** Its network interface on the DPU, for example {@code hpf0vf1}. */
    public String interfaceName() {
        return Objects.requireNonNull(function.representor(), "a child has a representor");
    }

    /** Whether the function was hot-plugged. */
    public boolean isHotplugged() {
        return function.hotplugged();
    }

    /** Address and interface name, for lists in messages. */
    @Override
    public String toString() {
        return pciAddress() + " " + interfaceName();
    }

    boolean matchesId(String id) {
        return id.equals(interfaceName())
                || id.equals(vuid())
                || pciAddress().equals(PciAddress.parse(id));
    }
}
