package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.linux.text.Text;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Builder of a {@link PciFunction}. Belongs to one thread.
 *
 * <p>Mandatory: ibdev name, PCI address, IPv4 address, MAC address and vuid. Defaults: physical
 * function, 200 Gbit/s, the IPv6 address derived from the MAC address, no limits.
 */
public final class PciFunctionBuilder {
    /** Default rate of a link: 200 Gbit/s. */
    public static final long DEFAULT_RATE_BITS_PER_SECOND = 200_000_000_000L;

    private final Side side;
    private final String interfaceName;
    private final Map<String, Long> profile = new TreeMap<>();
    private @Nullable String ibdevName;
    private FunctionType type = FunctionType.PF;
    private @Nullable PciAddress pciAddress;
    private @Nullable String parent;
    private @Nullable String representor;
    private @Nullable Inet4Address ipv4;
    private @Nullable Inet6Address ipv6;
    private @Nullable String macAddress;
    private @Nullable String vuid;
    private long activeRateBitsPerSecond = DEFAULT_RATE_BITS_PER_SECOND;
    private boolean hotplugged;

    PciFunctionBuilder(Side side, String interfaceName) {
        this.side = Arguments.notNull(side, "side");
        this.interfaceName = Arguments.notNull(interfaceName, "interfaceName");
    }

    PciFunctionBuilder(PciFunction all) {
        this(all.side(), all.interfaceName());
        ibdevName = all.ibdevName();
        type = all.type();
        pciAddress = all.pciAddress();
        parent = all.parent();
        representor = all.representor();
        ipv4 = all.ipv4();
        ipv6 = all.ipv6().equals(PciFunction.linkLocalOf(all.macAddress())) ? null : all.ipv6();
        macAddress = all.macAddress();
        vuid = all.vuid();
        activeRateBitsPerSecond = all.activeRateBitsPerSecond();
        profile.putAll(all.profile());
        hotplugged = all.hotplugged();
    }

    /** The name of its RDMA device, unique on its side. */
    public PciFunctionBuilder ibdevName(String name) {
        ibdevName = Arguments.notNull(name, "name");
        return this;
    }

    /** Physical, virtual or sub function. */
    public PciFunctionBuilder type(FunctionType type) {
        this.type = Arguments.notNull(type, "type");
        return this;
    }

    /** Its address; a sub function has that of its port. */
    public PciFunctionBuilder pciAddress(PciAddress address) {
        pciAddress = Arguments.notNull(address, "address");
        return this;
    }

    /**
     * Its address in the short or the long form.
     *
     * @throws DpuException INVALID_VALUE if the text has neither
     */
    public PciFunctionBuilder pciAddress(String text) {
        return pciAddress(PciAddress.of(text));
    }

    /** The interface name of the DPU's port that made it; it has a representor then. */
    public PciFunctionBuilder parent(@Nullable String port) {
        parent = port;
        return this;
    }

    /** The interface name of its representor on the DPU; it has a parent then. */
    public PciFunctionBuilder representor(@Nullable String interfaceName) {
        representor = interfaceName;
        return this;
    }

    /** Its IPv4 address. */
    public PciFunctionBuilder ipv4(Inet4Address address) {
        ipv4 = Arguments.notNull(address, "address");
        return this;
    }

    /**
     * Its dotted IPv4 address.
     *
     * @throws DpuException INVALID_VALUE if the text is none
     */
    public PciFunctionBuilder ipv4(String text) {
        return ipv4(PciFunction.ipv4Of(text));
    }

    /** Its IPv6 address, instead of the link-local one that follows from the MAC address. */
    public PciFunctionBuilder ipv6(Inet6Address address) {
        ipv6 = Arguments.notNull(address, "address");
        return this;
    }

    /**
     * Its IPv6 address in digits.
     *
     * @throws DpuException INVALID_VALUE if the text is none
     */
    public PciFunctionBuilder ipv6(String text) {
        return ipv6(PciFunction.ipv6Of(text));
    }

    /** Its MAC address: six bytes in hex with colons, lower case. */
    public PciFunctionBuilder macAddress(String address) {
        macAddress = Arguments.notNull(address, "address");
        return this;
    }

    /** The vendor's unique name. */
    public PciFunctionBuilder vuid(String vuid) {
        this.vuid = Arguments.notNull(vuid, "vuid");
        return this;
    }

    /**
     * The rate of its link in bits per second.
     *
     * @throws DpuException INVALID_VALUE if it is not positive
     */
    public PciFunctionBuilder activeRate(long bitsPerSecond) {
        activeRateBitsPerSecond = positive("rate", bitsPerSecond);
        return this;
    }

    /**
     * Lowers a limit of the device below that of its library.
     *
     * @param most in the unit of the limit; 0, if the limit is {@linkplain DeviceLimit#optional()
     *     optional}, means that the device does not support what is limited
     * @throws DpuException INVALID_VALUE if it is less than {@link DeviceLimit#least()}
     */
    public PciFunctionBuilder limit(DeviceLimit limit, long most) {
        return limit(Arguments.notNull(limit, "limit").id(), most, limit.least());
    }

    /**
     * The same by name, for libraries that this program may not have. Opening a machine and
     * plugging the function in check the limit, and whether it may be 0, against the libraries that
     * are present.
     *
     * @param id the {@linkplain DeviceLimit#id() id} of the limit
     * @throws DpuException INVALID_VALUE if the id is malformed, or the value is negative
     */
    public PciFunctionBuilder limit(String id, long most) {
        return limit(id, most, 0);
    }

    private PciFunctionBuilder limit(String id, long most, long least) {
        DeviceLimit.requireId(Arguments.notNull(id, "id"));
        PciFunction.requireLimit(PciFunction.key(side, interfaceName), id, most, least);
        profile.put(id, most);
        return this;
    }

    PciFunctionBuilder hotplugged(boolean plugged) {
        hotplugged = plugged;
        return this;
    }

    /**
     * Builds the function.
     *
     * @throws DpuException INVALID_VALUE naming the value that is missing or wrong
     */
    public PciFunction build() {
        String mac = given("macAddress", macAddress);
        return new PciFunction(
                side,
                interfaceName,
                given("ibdevName", ibdevName),
                type,
                given("pciAddress", pciAddress),
                parent,
                representor,
                given("ipv4", ipv4),
                ipv6 == null ? PciFunction.linkLocalOf(mac) : ipv6,
                mac,
                given("vuid", vuid),
                activeRateBitsPerSecond,
                profile,
                hotplugged);
    }

    private long positive(String what, long value) {
        if (value < 1) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "%s is not positive: function=%s/%s, value=%d",
                            what, side.id(), interfaceName, value));
        }
        return value;
    }

    private <T> T given(String what, @Nullable T value) {
        if (value == null) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "value is missing: function=%s/%s, value=%s",
                            side.id(), interfaceName, what));
        }
        return value;
    }
}
