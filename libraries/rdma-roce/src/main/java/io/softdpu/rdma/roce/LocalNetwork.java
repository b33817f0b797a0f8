package io.softdpu.rdma.roce;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Reason;
import io.softdpu.rdma.roce.wire.Gid;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/**
 * Part of a network in which an address is: its subnet, or for a loopback address the network
 * namespace of a kernel. Immutable, without I/O but for {@link #of}.
 *
 * @param address whose port does not count
 * @param prefixLength of the subnet: 0 to 32 for IPv4, 0 to 128 for IPv6
 * @param kernel boot id of the kernel
 * @param namespace number of the network namespace
 */
record LocalNetwork(Gid address, int prefixLength, UUID kernel, long namespace) {
    private static final int IPV4_BITS = 32;
    private static final int IPV6_BITS = 128;
    private static final int IPV4_LOOPBACK = 127;
    private static final int IPV4_LOOPBACK_PREFIX = 8;
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    private static final Path NAMESPACE = Path.of("/proc/self/ns/net");

    /**
     * That of an address of this machine.
     *
     * @throws DpuException OPERATING_SYSTEM if the system does not tell
     */
    static LocalNetwork of(Gid address) {
        try {
            return new LocalNetwork(
                    address, prefixLengthOf(address), readBootId(), readNamespace());
        } catch (IOException | IllegalArgumentException e) {
            throw new DpuException(
                    Status.OPERATING_SYSTEM,
                    "network of an address cannot be found: address="
                            + address
                            + ", failure="
                            + Reason.of(e),
                    e);
        }
    }

    private static UUID readBootId() throws IOException {
        return UUID.fromString(Files.readString(BOOT_ID, StandardCharsets.US_ASCII).strip());
    }

    /** The link has the form {@code net:[4026531840]}. */
    private static long readNamespace() throws IOException {
        String link = Files.readSymbolicLink(NAMESPACE).toString();
        int from = link.indexOf('[') + 1;
        int to = link.indexOf(']');
        if (from == 0 || to < from) {
            throw new IOException("no network namespace: link=" + link);
        }
        return Long.parseUnsignedLong(link, from, to, 10);
    }

    /** That of the interface; the whole address if it is of none, so that no other is in reach. */
    private static int prefixLengthOf(Gid address) throws IOException {
        if (isLoopback(address)) {
            return address.isIpv4() ? IPV4_LOOPBACK_PREFIX : IPV6_BITS;
        }
        InetAddress inet = InetAddress.getByAddress(address.addressBytes());
        NetworkInterface of = NetworkInterface.getByInetAddress(inet);
        if (of != null) {
            for (InterfaceAddress each : of.getInterfaceAddresses()) {
                if (Gid.ofAddress(each.getAddress().getAddress()).hasAddressOf(address)) {
                    return each.getNetworkPrefixLength();
                }
            }
        }
        return bits(address);
    }

    /** Number of bits of an address of its IP version. */
    static int bits(Gid address) {
        return address.isIpv4() ? IPV4_BITS : IPV6_BITS;
    }

    private static boolean isLoopback(Gid address) {
        return address.isIpv4()
                ? (int) address.low() >>> 24 == IPV4_LOOPBACK
                : address.high() == 0 && address.low() == 1;
    }

    /** Whether this address and that of the peer reach each other. */
    boolean reaches(LocalNetwork peer) {
        if (address.isIpv4() != peer.address.isIpv4()
                || address.isLinkLocal()
                || peer.address.isLinkLocal()) {
            return false;
        }
        if (isLoopback(address) || isLoopback(peer.address)) {
            return isLoopback(address)
                    && isLoopback(peer.address)
                    && kernel.equals(peer.kernel)
                    && namespace == peer.namespace;
        }
        return hasPrefixOf(peer, prefixLength) && hasPrefixOf(peer, peer.prefixLength);
    }

    /**
     * The same for a peer of which only the address is known: it is taken to have the prefix, the
     * kernel and the namespace of this one.
     */
    boolean reaches(Gid peer) {
        return reaches(new LocalNetwork(peer, prefixLength, kernel, namespace));
    }

    private boolean hasPrefixOf(LocalNetwork peer, int length) {
        byte[] own = address.addressBytes();
        byte[] other = peer.address.addressBytes();
        for (int bit = 0; bit < length; bit++) {
            int mask = 0x80 >> (bit & 7);
            if (((own[bit >> 3] ^ other[bit >> 3]) & mask) != 0) {
                return false;
            }
        }
        return true;
    }
}
