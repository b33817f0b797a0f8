package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;

/** Socket addresses of IPv4 and IPv6 as the kernel has them (sockaddr). Any thread. */
final class SocketAddresses {
    static final int AF_INET = 2;
    static final int AF_INET6 = 10;

    static final ValueLayout.OfShort FAMILY = ValueLayout.JAVA_SHORT;
    static final ValueLayout.OfShort PORT = ValueLayout.JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);

    /** Offset in scratch of an address's length, after the longest address. */
    private static final int LENGTH_OFFSET = 32;

    private static final MethodHandle GETSOCKNAME =
            Libc.bind("getsockname", INT, INT, POINTER, POINTER);
    private static final MethodHandle GETPEERNAME =
            Libc.bind("getpeername", INT, INT, POINTER, POINTER);

    private SocketAddresses() {}

    /** The address that a socket is bound to. */
    static InetSocketAddress local(int fd) {
        return get("getsockname", GETSOCKNAME, fd);
    }

    /** The address that a socket is connected to. */
    static InetSocketAddress remote(int fd) {
        return get("getpeername", GETPEERNAME, fd);
    }

    private static InetSocketAddress get(String call, MethodHandle handle, int fd) {
        CallState state = CallState.current();
        state.scratch.set(INT, LENGTH_OFFSET, LENGTH_OFFSET);
        int result;
        try {
            result =
                    (int)
                            handle.invokeExact(
                                    state.errno,
                                    fd,
                                    state.scratchAddress,
                                    state.scratchAddress + LENGTH_OFFSET);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result != 0) {
            throw new LinuxException(call, state.lastErrno(), "fd=" + fd);
        }
        return read(state.scratch, fd);
    }

    /**
     * Writes a sockaddr at the beginning of the target, and returns its length.
     *
     * @throws IllegalArgumentException if the address is unresolved
     */
    static int write(MemorySegment target, InetSocketAddress address) {
        InetAddress host = address.getAddress();
        if (host == null) {
            throw new IllegalArgumentException("address is unresolved: address=" + address);
        }
        byte[] bytes = host.getAddress();
        if (!(host instanceof Inet6Address scoped)) {
            target.asSlice(0, Abi.SockAddrIn.BYTES).fill((byte) 0);
            target.set(FAMILY, Abi.SockAddrIn.FAMILY, (short) AF_INET);
            target.set(PORT, Abi.SockAddrIn.PORT, (short) address.getPort());
            MemorySegment.copy(
                    bytes, 0, target, ValueLayout.JAVA_BYTE, Abi.SockAddrIn.ADDRESS, bytes.length);
            return Abi.SockAddrIn.BYTES;
        }
        target.asSlice(0, Abi.SockAddrIn6.BYTES).fill((byte) 0);
        target.set(FAMILY, Abi.SockAddrIn6.FAMILY, (short) AF_INET6);
        target.set(PORT, Abi.SockAddrIn6.PORT, (short) address.getPort());
        MemorySegment.copy(
                bytes, 0, target, ValueLayout.JAVA_BYTE, Abi.SockAddrIn6.ADDRESS, bytes.length);
        target.set(INT, Abi.SockAddrIn6.SCOPE, scoped.getScopeId());
        return Abi.SockAddrIn6.BYTES;
    }

    /** Reads a sockaddr; an IPv4-mapped IPv6 address becomes an IPv4 address. */
    private static InetSocketAddress read(MemorySegment source, int fd) {
        int family = Short.toUnsignedInt(source.get(FAMILY, Abi.SockAddrIn.FAMILY));
        int port = Short.toUnsignedInt(source.get(PORT, Abi.SockAddrIn.PORT));
        try {
            if (family == AF_INET) {
                return new InetSocketAddress(
                        InetAddress.getByAddress(
                                bytes(
                                        source,
                                        Abi.SockAddrIn.ADDRESS,
                                        Abi.SockAddrIn.ADDRESS_BYTES)),
                        port);
            }
            if (family == AF_INET6) {
                byte[] bytes =
                        bytes(source, Abi.SockAddrIn6.ADDRESS, Abi.SockAddrIn6.ADDRESS_BYTES);
                int scope = source.get(INT, Abi.SockAddrIn6.SCOPE);
                return new InetSocketAddress(
                        scope == 0
                                ? InetAddress.getByAddress(bytes)
                                : Inet6Address.getByAddress(null, bytes, scope),
                        port);
            }
        } catch (UnknownHostException e) {
            throw new IllegalStateException("address has an illegal length: fd=" + fd, e);
        }
        throw new IllegalArgumentException(
                "not a socket of IPv4 or IPv6: fd=" + fd + ", family=" + family);
    }

    private static byte[] bytes(MemorySegment source, int offset, int length) {
        return source.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }
}
