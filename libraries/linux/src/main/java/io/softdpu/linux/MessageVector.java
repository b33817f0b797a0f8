package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Native memory of messages for sendmmsg and recvmmsg: their headers, each with the address of a
 * peer, a control area and a slot for its bytes. All of it is one allocation, made once; the
 * methods below allocate nothing unless they say so. One thread at a time.
 *
 * <p>Addresses are two words, the first and the last eight bytes of an IPv6 address; an IPv4
 * address is mapped into it (::ffff:a.b.c.d).
 */
final class MessageVector {
    /** Most messages that the kernel takes per call (UIO_MAXIOV). */
    static final int MAX_CAPACITY = 1024;

    static final int MSG_TRUNC = 0x20;

    private static final int NAME_BYTES = 32;

    /** Slots begin at cache lines. */
    private static final int SLOT_ALIGNMENT = 64;

    private static final int IP_BYTES = 16;
    private static final long MAPPED = 0xffffL << Integer.SIZE;
    private static final long IPV4_MASK = 0xffff_ffffL;

    private static final ValueLayout.OfInt NETWORK_INT = INT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong NETWORK_LONG = LONG.withOrder(ByteOrder.BIG_ENDIAN);

    final boolean ipv6;
    final int capacity;
    final int maxBytes;

    /** errno of calls with this vector. */
    final CallState state = new CallState();

    /** Headers, vectors, addresses and control areas; keeps the slots alive too. */
    private final MemorySegment structures;

    private final MemorySegment slots;
    private final long address;
    private final long firstName;
    private final long firstControl;
    private final int controlBytes;
    private final long slotBytes;

    /**
     * Allocates it.
     *
     * @param capacity number of messages, 1 to {@link #MAX_CAPACITY}
     * @param maxBytes size of the longest message
     * @param controlBytes size of a control area, a multiple of 8
     */
    MessageVector(boolean ipv6, int capacity, int maxBytes, int controlBytes) {
        if (capacity < 1 || capacity > MAX_CAPACITY) {
            throw new IllegalArgumentException(
                    "number of datagrams: capacity="
                            + capacity
                            + ", expected=1 to "
                            + MAX_CAPACITY);
        }
        if (maxBytes <= 0) {
            throw new IllegalArgumentException("maxBytes must be above 0: maxBytes=" + maxBytes);
        }
        this.ipv6 = ipv6;
        this.capacity = capacity;
        this.maxBytes = maxBytes;
        this.controlBytes = controlBytes;
        slotBytes = align(maxBytes);
        long firstVector = (long) capacity * Abi.MMsgHdr.BYTES;
        firstName = firstVector + (long) capacity * Abi.IoVec.BYTES;
        firstControl = firstName + (long) capacity * NAME_BYTES;
        long firstSlot = align(firstControl + (long) capacity * controlBytes);
        MemorySegment memory =
                Arena.ofAuto().allocate(firstSlot + capacity * slotBytes, SLOT_ALIGNMENT);
        structures = memory.asSlice(0, firstSlot);
        slots = memory.asSlice(firstSlot);
        address = structures.address();
        for (int i = 0; i < capacity; i++) {
            long vector = firstVector + (long) i * Abi.IoVec.BYTES;
            structures.set(LONG, vector + Abi.IoVec.BASE, slots.address() + offset(i));
            structures.set(LONG, vector + Abi.IoVec.LENGTH, maxBytes);
            structures.set(LONG, header(i) + Abi.MsgHdr.NAME, address + name(i));
            structures.set(INT, header(i) + Abi.MsgHdr.NAME_LENGTH, NAME_BYTES);
            structures.set(LONG, header(i) + Abi.MsgHdr.IOV, address + vector);
            structures.set(LONG, header(i) + Abi.MsgHdr.IOV_LENGTH, 1);
            structures.set(LONG, header(i) + Abi.MsgHdr.CONTROL, address + control(i));
            structures.set(LONG, header(i) + Abi.MsgHdr.CONTROL_LENGTH, controlBytes);
        }
    }

    private static long align(long bytes) {
        return (bytes + SLOT_ALIGNMENT - 1) & -SLOT_ALIGNMENT;
    }

    /** The slots of all messages. */
    MemorySegment slots() {
        return slots;
    }

    /** Where a message begins in {@link #slots}. */
    long offset(int index) {
        return index * slotBytes;
    }

    /** The header of a message, as an address. */
    long headerAddress(int index) {
        return address + header(index);
    }

    private long header(int index) {
        return (long) index * Abi.MMsgHdr.BYTES;
    }

    /** Offset of the address of a message's peer. */
    long name(int index) {
        return firstName + (long) index * NAME_BYTES;
    }

    /** Offset of the control area of a message. */
    long control(int index) {
        return firstControl + (long) index * controlBytes;
    }

    // ---- messages to send ----

    /** Sets the parts of an outgoing message that stay. */
    void prepareToSend(int index, int level, int type) {
        structures.set(
                SocketAddresses.FAMILY,
                name(index) + Abi.SockAddrIn.FAMILY,
                (short) (ipv6 ? SocketAddresses.AF_INET6 : SocketAddresses.AF_INET));
        structures.set(
                INT,
                header(index) + Abi.MsgHdr.NAME_LENGTH,
                ipv6 ? Abi.SockAddrIn6.BYTES : Abi.SockAddrIn.BYTES);
        long control = control(index);
        structures.set(LONG, control + Abi.CmsgHdr.LENGTH, Abi.CmsgHdr.length(Integer.BYTES));
        structures.set(INT, control + Abi.CmsgHdr.LEVEL, level);
        structures.set(INT, control + Abi.CmsgHdr.TYPE, type);
    }

    /** Sets size and destination of an outgoing message; a control value below 0 is left out. */
    void setToSend(int index, int length, long high, long low, int port, int controlValue) {
        long header = header(index);
        long vector = structures.get(LONG, header + Abi.MsgHdr.IOV) - address;
        structures.set(LONG, vector + Abi.IoVec.LENGTH, length);
        long name = name(index);
        structures.set(SocketAddresses.PORT, name + Abi.SockAddrIn.PORT, (short) port);
        if (ipv6) {
            structures.set(NETWORK_LONG, name + Abi.SockAddrIn6.ADDRESS, high);
            structures.set(NETWORK_LONG, name + Abi.SockAddrIn6.ADDRESS + Long.BYTES, low);
        } else {
            structures.set(NETWORK_INT, name + Abi.SockAddrIn.ADDRESS, (int) low);
        }
        structures.set(INT, control(index) + Abi.CmsgHdr.DATA, controlValue);
        structures.set(
                LONG, header + Abi.MsgHdr.CONTROL_LENGTH, controlValue < 0 ? 0 : controlBytes);
    }

    /** Size of an outgoing message. */
    int lengthToSend(int index) {
        long vector = structures.get(LONG, header(index) + Abi.MsgHdr.IOV) - address;
        return (int) structures.get(LONG, vector + Abi.IoVec.LENGTH);
    }

    // ---- received messages ----

    /** Resets what the kernel has changed in the headers of received messages. */
    void prepareToReceive(int count) {
        for (int i = 0; i < count; i++) {
            long header = header(i);
            structures.set(INT, header + Abi.MsgHdr.NAME_LENGTH, NAME_BYTES);
            structures.set(LONG, header + Abi.MsgHdr.CONTROL_LENGTH, controlBytes);
            structures.set(INT, header + Abi.MsgHdr.FLAGS, 0);
        }
    }

    /** Bytes of a received message in its slot. */
    int length(int index) {
        return structures.get(INT, header(index) + Abi.MMsgHdr.LENGTH);
    }

    /** Whether a received message was longer than its slot. */
    boolean isTruncated(int index) {
        return (structures.get(INT, header(index) + Abi.MsgHdr.FLAGS) & MSG_TRUNC) != 0;
    }

    /** Offset of the data of a control message with this level and type; -1 if there is none. */
    long find(int index, int level, int type, int leastBytes) {
        long at = control(index);
        long end = at + structures.get(LONG, header(index) + Abi.MsgHdr.CONTROL_LENGTH);
        while (end - at >= Abi.CmsgHdr.DATA) {
            long size = structures.get(LONG, at + Abi.CmsgHdr.LENGTH);
            if (size < Abi.CmsgHdr.DATA || size > end - at) {
                return -1;
            }
            if (structures.get(INT, at + Abi.CmsgHdr.LEVEL) == level
                    && structures.get(INT, at + Abi.CmsgHdr.TYPE) == type
                    && size >= Abi.CmsgHdr.DATA + leastBytes) {
                return at + Abi.CmsgHdr.DATA;
            }
            at += Abi.CmsgHdr.align((int) size);
        }
        return -1;
    }

    int getByte(long offset) {
        return Byte.toUnsignedInt(structures.get(ValueLayout.JAVA_BYTE, offset));
    }

    int getInt(long offset) {
        return structures.get(INT, offset);
    }

    // ---- addresses ----

    /** Family of a sockaddr. */
    int family(long name) {
        return Short.toUnsignedInt(
                structures.get(SocketAddresses.FAMILY, name + Abi.SockAddrIn.FAMILY));
    }

    /** Port of a sockaddr. */
    int port(long name) {
        return Short.toUnsignedInt(
                structures.get(SocketAddresses.PORT, name + Abi.SockAddrIn.PORT));
    }

    /** First half of the address in a sockaddr of this socket's family. */
    long high(long name) {
        return ipv6 ? ipv6High(name + Abi.SockAddrIn6.ADDRESS) : 0;
    }

    /** Second half of the address in a sockaddr of this socket's family. */
    long low(long name) {
        return ipv6
                ? ipv6Low(name + Abi.SockAddrIn6.ADDRESS)
                : ipv4Low(name + Abi.SockAddrIn.ADDRESS);
    }

    long ipv6High(long at) {
        return structures.get(NETWORK_LONG, at);
    }

    long ipv6Low(long at) {
        return structures.get(NETWORK_LONG, at + Long.BYTES);
    }

    long ipv4Low(long at) {
        return MAPPED | Integer.toUnsignedLong(structures.get(NETWORK_INT, at));
    }

    /** Whether an IPv4 address is mapped into an address of two words. */
    static boolean isIpv4(long high, long low) {
        return high == 0 && (low & ~IPV4_MASK) == MAPPED;
    }

    /** First half of an address. */
    static long high(InetAddress address) {
        byte[] bytes = address.getAddress();
        return bytes.length == IP_BYTES ? ByteBuffer.wrap(bytes).getLong() : 0;
    }

    /** Second half of an address. */
    static long low(InetAddress address) {
        byte[] bytes = address.getAddress();
        return bytes.length == IP_BYTES
                ? ByteBuffer.wrap(bytes).getLong(Long.BYTES)
                : MAPPED | Integer.toUnsignedLong(ByteBuffer.wrap(bytes).getInt());
    }

    /** An address of two words and a port, for messages. Allocates. */
    static InetSocketAddress address(long high, long low, int port) {
        byte[] bytes = ByteBuffer.allocate(IP_BYTES).putLong(high).putLong(low).array();
        try {
            return new InetSocketAddress(InetAddress.getByAddress(bytes), port);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("address has an illegal length: " + bytes.length, e);
        }
    }
}
