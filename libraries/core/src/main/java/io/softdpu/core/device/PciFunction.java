package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.linux.text.Text;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * PCIe function of a topology: the device of a machine, possibly with a representor. See {@link
 * #builder}.
 *
 * @param side the machine that has it as a local device
 * @param interfaceName its network interface, unique on its side, for example {@code pf0vf1}
 * @param ibdevName its RDMA device, unique on its side, for example {@code mlx5_3}
 * @param type physical, virtual or sub function
 * @param pciAddress its address; a sub function has the address of its port
 * @param parent the interface name of the DPU's physical function that created it; null for one
 *     without a parent (the DPU's ports themselves, devices of other machines)
 * @param representor the interface name of its representor on the DPU; null if it has none; set if
 *     and only if {@code parent} is
 * @param ipv4 its IPv4 address, from which its default GID is derived
 * @param ipv6 its IPv6 address; usually the link-local one derived from the MAC address
 * @param macAddress six bytes in hex with colons, lower case
 * @param vuid the vendor's unique name of the function, the same for its representor
 * @param activeRateBitsPerSecond the rate of the link
 * @param profile lowered limits of libraries: values from 0 by {@linkplain DeviceLimit#id() ids of
 *     limits}, sorted by them; usually empty. A machine accepts 0 for {@linkplain
 *     DeviceLimit#optional() optional} limits only. A limit of a library that a program does not
 *     have has no effect there, but is part of the topology
 * @param hotplugged whether it was plugged in at run time; false in the initial topology
 */
public record PciFunction(
        Side side,
        String interfaceName,
        String ibdevName,
        FunctionType type,
        PciAddress pciAddress,
        @Nullable String parent,
        @Nullable String representor,
        Inet4Address ipv4,
        Inet6Address ipv6,
        String macAddress,
        String vuid,
        long activeRateBitsPerSecond,
        Map<String, Long> profile,
        boolean hotplugged) {

    /** Pattern of the names of interfaces, RDMA devices, representors, and of vuids. */
    public static final String NAME_FORM = "[A-Za-z0-9][A-Za-z0-9_.-]{0,31}";

    private static final Pattern NAME = Pattern.compile(NAME_FORM);
    private static final Pattern MAC = Pattern.compile("[0-9a-f]{2}(:[0-9a-f]{2}){5}");
    private static final Pattern DOTTED = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");
    private static final Pattern COLONS = Pattern.compile("[0-9a-fA-F:.]{2,45}");

    /**
     * Checks each value.
     *
     * @throws DpuException INVALID_VALUE naming the value that is wrong
     */
    public PciFunction {
        Arguments.notNull(side, "side");
        Arguments.notNull(type, "type");
        check(NAME, "interfaceName", interfaceName);
        check(NAME, "ibdevName", ibdevName);
        check(NAME, "vuid", vuid);
        check(MAC, "macAddress", macAddress);
        Arguments.notNull(pciAddress, "pciAddress");
        Arguments.notNull(ipv4, "ipv4");
        ipv6 = withoutScope(Arguments.notNull(ipv6, "ipv6"));
        profile = checked(interfaceName, profile);
        if (parent != null) {
            check(NAME, "parent", parent);
        }
        if (representor != null) {
            check(NAME, "representor", representor);
        }
        if ((parent == null) != (representor == null)) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "a function has a parent and a representor, or neither: function=%s,"
                                    + " parent=%s, representor=%s",
                            interfaceName, parent, representor));
        }
        if (activeRateBitsPerSecond <= 0) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "rate is not positive: function=%s, activeRateBitsPerSecond=%d",
                            interfaceName, activeRateBitsPerSecond));
        }
    }

    /** The address without a scope, which would refer to an interface of this computer. */
    private static Inet6Address withoutScope(Inet6Address address) {
        try {
            if (InetAddress.getByAddress(address.getAddress()) instanceof Inet4Address ipv4) {
                throw new DpuException(
                        Status.INVALID_VALUE,
                        Text.format(
                                "IPv6 address is a mapped IPv4 address: ipv6=%s, ipv4=%s",
                                address.getHostAddress(), ipv4.getHostAddress()));
            }
            return Inet6Address.getByAddress(null, address.getAddress(), -1);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("16 bytes are an address: " + address, e);
        }
    }

    /** Whether a text has the {@linkplain #NAME_FORM form of a name}. */
    public static boolean isName(String text) {
        return NAME.matcher(Arguments.notNull(text, "text")).matches();
    }

    /** A name that is unique in the topology: side and interface, for example {@code host/pf0}. */
    public String key() {
        return key(side, interfaceName);
    }

    /** The {@linkplain #key() key} of a function with this interface on this side. */
    public static String key(Side side, String interfaceName) {
        return Arguments.notNull(side, "side").id()
                + "/"
                + Arguments.notNull(interfaceName, "interfaceName");
    }

    /**
     * The effective value of a limit: the lower of the profile's and the library's. A profile's 0
     * counts as 1 unless the limit is {@linkplain DeviceLimit#optional() optional}: a program with
     * another version of the library may have plugged the function in.
     *
     * @throws DpuException INVALID_VALUE if the library's is negative
     */
    public long lowered(DeviceLimit limit, long ofLibrary) {
        Arguments.notNull(limit, "limit");
        if (ofLibrary < 0) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format("limit is negative: limit=%s, ofLibrary=%d", limit, ofLibrary));
        }
        long most = profile.getOrDefault(limit.id(), ofLibrary);
        return Math.min(ofLibrary, Math.max(limit.least(), most));
    }

    /** The default GID, 16 bytes: the IPv4 address mapped into IPv6 ({@code ::ffff:a.b.c.d}). */
    public byte[] gid() {
        byte[] gid = new byte[16];
        gid[10] = (byte) 0xff;
        gid[11] = (byte) 0xff;
        System.arraycopy(ipv4.getAddress(), 0, gid, 12, 4);
        return gid;
    }

    /**
     * Parses a dotted IPv4 address; never resolves names.
     *
     * @throws DpuException INVALID_VALUE if the text is none
     */
    public static Inet4Address ipv4Of(String text) {
        Arguments.notNull(text, "text");
        try {
            if (DOTTED.matcher(text).matches()) {
                return Inet4Address.ofLiteral(text);
            }
        } catch (IllegalArgumentException e) {
            throw new DpuException(Status.INVALID_VALUE, "not an IPv4 address: text=" + text, e);
        }
        throw new DpuException(Status.INVALID_VALUE, "not an IPv4 address: text=" + text);
    }

    /**
     * Parses a numeric IPv6 address, without a zone; never resolves names.
     *
     * @throws DpuException INVALID_VALUE if the text is none
     */
    public static Inet6Address ipv6Of(String text) {
        Arguments.notNull(text, "text");
        try {
            if (COLONS.matcher(text).matches()
                    && Inet6Address.ofLiteral(text) instanceof Inet6Address address) {
                return address; // and not an IPv4-mapped address
            }
        } catch (IllegalArgumentException e) {
            throw new DpuException(Status.INVALID_VALUE, "not an IPv6 address: text=" + text, e);
        }
        throw new DpuException(Status.INVALID_VALUE, "not an IPv6 address: text=" + text);
    }

    /**
     * The link-local address derived from a MAC address (modified EUI-64).
     *
     * @param macAddress six bytes in hex with colons, lower case
     * @throws DpuException INVALID_VALUE if it is none
     */
    public static Inet6Address linkLocalOf(String macAddress) {
        check(MAC, "macAddress", macAddress);
        byte[] bytes = new byte[16];
        bytes[0] = (byte) 0xfe;
        bytes[1] = (byte) 0x80;
        for (int i = 0; i < 6; i++) {
            int part = Integer.parseInt(macAddress, i * 3, i * 3 + 2, 16);
            bytes[(i < 3 ? 8 : 10) + i] = (byte) (i == 0 ? part ^ 2 : part);
        }
        bytes[11] = (byte) 0xff;
        bytes[12] = (byte) 0xfe;
        return (Inet6Address) addressOf(bytes);
    }

    /** Creates a builder of a function with this side and interface name. */
    public static PciFunctionBuilder builder(Side side, String interfaceName) {
        return new PciFunctionBuilder(side, interfaceName);
    }

    /** Creates a builder with the values of this function. */
    public PciFunctionBuilder toBuilder() {
        return new PciFunctionBuilder(this);
    }

    private static Map<String, Long> checked(String function, Map<String, Long> profile) {
        Map<String, Long> copy = new TreeMap<>();
        Arguments.notNull(profile, "profile")
                .forEach((limit, most) -> {
                    DeviceLimit.requireId(Arguments.notNull(limit, "profile's limit"));
                    requireLimit(function, limit, Arguments.notNull(most, "profile's value"), 0);
                    copy.put(limit, most);
                });
        return Collections.unmodifiableMap(copy);
    }

    /** Refuses a value of a limit that is too low. */
    static void requireLimit(String function, String limit, long value, long least) {
        if (value < least) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "limit is too low: function=%s, limit=%s, value=%d, expected=%d or"
                                    + " more",
                            function, limit, value, least));
        }
    }

    private static InetAddress addressOf(byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError("16 bytes are an address", e);
        }
    }

    private static void check(Pattern form, String what, String value) {
        Arguments.notNull(value, what);
        if (!form.matcher(value).matches()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format("malformed value: %s=%s, form=%s", what, value, form));
        }
    }
}
