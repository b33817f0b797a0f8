package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.PciFunction;
import io.softdpu.linux.text.Text;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.regex.Pattern;

/**
 * Address of a listener of {@link Rdma#listen}: one of the addresses of its device, and a port (of
 * later releases, {@code doca_rdma_addr}). A GID that is a mapped IPv4 address, {@code
 * ::ffff:a.b.c.d}, refers to the same device as that IPv4 address. Immutable; any thread.
 *
 * @param type the form of the address
 * @param address of a device; of a GID that maps an IPv4 address, that one
 * @param port 1 to 65,535
 */
public record RdmaAddress(Type type, InetAddress address, int port) {
    /** Form of an address. */
    public enum Type {
        /** IPv4 address, as {@code 127.3.0.1}. */
        IPV4,
        /** IPv6 address, as {@code fe80::53:44ff:fe03:1}; not a mapped IPv4 address. */
        IPV6,
        /** GID, as {@code ::ffff:127.3.0.1} or any IPv6 address. */
        GID
    }

    private static final int MAX_PORT = 0xffff;
    private static final Pattern GID_FORM = Pattern.compile("[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");

    /**
     * Checks the values.
     *
     * @throws DpuException INVALID_VALUE if the address is not of the type, or the port is out of
     *     range
     */
    public RdmaAddress {
        Arguments.notNull(type, "type");
        Arguments.notNull(address, "address");
        if ((type == Type.IPV4 && !(address instanceof Inet4Address))
                || (type == Type.IPV6 && !(address instanceof Inet6Address))) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "RDMA address is not of its type: address=%s, expected=%s",
                            address.getHostAddress(), type));
        }
        requirePort(port);
    }

    /**
     * The address in a text, which is parsed and never resolved as a name.
     *
     * @param type the form of the text
     * @throws DpuException INVALID_VALUE if the text does not have that form, or the port is out of
     *     range
     */
    public static RdmaAddress of(Type type, String address, int port) {
        Arguments.notNull(type, "type");
        Arguments.notNull(address, "address");
        return new RdmaAddress(
                type,
                switch (type) {
                    case IPV4 -> PciFunction.ipv4Of(address);
                    case IPV6 -> PciFunction.ipv6Of(address);
                    case GID -> gidOf(address);
                },
                port);
    }

    private static InetAddress gidOf(String text) {
        try {
            if (GID_FORM.matcher(text).matches()) {
                return InetAddress.ofLiteral(text);
            }
        } catch (IllegalArgumentException e) {
            throw new DpuException(Status.INVALID_VALUE, "not a GID: text=" + text, e);
        }
        throw new DpuException(Status.INVALID_VALUE, "not a GID: text=" + text);
    }

    /** Refuses a number that is no port. */
    static void requirePort(int port) {
        if (port < 1 || port > MAX_PORT) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "RDMA port out of range: port=%d, expected=1 to %d", port, MAX_PORT));
        }
    }

    /** Address and port, for messages. */
    @Override
    public String toString() {
        String text = address.getHostAddress();
        return (address instanceof Inet4Address ? text : "[" + text + "]") + ":" + port;
    }
}
