package io.softdpu.rdma.roce;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.roce.cm.ConnectKey;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import io.softdpu.rdma.spi.RnrTimer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.UUID;

/**
 * Section of this provider in a connection blob: the address of the exporter's NIC and the part of
 * a network in which that is, its queue pair, and the key by which a peer proves that it was given
 * this blob.
 *
 * <pre>
 *  0  version         u16  2
 *  2  form            u16  0; 1 is a {@link RoceQueuePair}
 *  4  UDP port        u16  4791, or 32,768 to 49,151
 *  6  prefix length   u8   of the address' subnet: to 32 for IPv4, to 128 for IPv6
 *  7  reserved        u8   0
 *  8  GID             16 B address of the NIC; IPv4 is mapped into IPv6
 * 24  kernel          16 B boot id
 * 40  namespace       u64  number of the network namespace
 * 48  queue pair      u32  2 to 2^24 - 1
 * 52  path MTU        u16  bytes, a power of two, 256 to 4,096
 * 54  RNR timer       u16  0 to 31, a code of the InfiniBand specification
 * 56  receive buffer  u64  bytes, above 0
 * 64  key             16 B random, one per connection
 * 80  first PSN       u32  0 to 2^24 - 1, for a peer that is none of softdpu
 * </pre>
 *
 * All big-endian. Immutable, without I/O; any thread.
 *
 * @param gid with the UDP port
 * @param network of the address
 * @param firstPsn number of the first request packet of the exporter's end if its peer is stated by
 *     parameters
 */
record RoceDetails(
        Gid gid,
        LocalNetwork network,
        int queuePair,
        int pathMtuBytes,
        RnrTimer rnrTimer,
        long receiveBufferBytes,
        ConnectKey key,
        int firstPsn) {
    static final int VERSION = 2;
    static final int FORM = 0;
    static final int WIRE_BYTES = 64 + ConnectKey.WIRE_BYTES + Integer.BYTES;
    static final int MIN_PATH_MTU_BYTES = 256;
    static final int MAX_PATH_MTU_BYTES = 4096;

    static final int MIN_QUEUE_PAIR = 2;
    static final int MAX_QUEUE_PAIR = SequenceNumber.MAX; // both are 24 bits
    private static final int MAX_RNR_TIMER = 31;

    private static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    byte[] encode() {
        byte[] array = new byte[WIRE_BYTES];
        MemorySegment bytes = MemorySegment.ofArray(array);
        bytes.set(U16, 0, (short) VERSION);
        bytes.set(U16, 2, (short) FORM);
        bytes.set(U16, 4, (short) gid.port());
        bytes.set(ValueLayout.JAVA_BYTE, 6, (byte) network.prefixLength());
        bytes.set(U64, 8, gid.high());
        bytes.set(U64, 16, gid.low());
        bytes.set(U64, 24, network.kernel().getMostSignificantBits());
        bytes.set(U64, 32, network.kernel().getLeastSignificantBits());
        bytes.set(U64, 40, network.namespace());
        bytes.set(U32, 48, queuePair);
        bytes.set(U16, 52, (short) pathMtuBytes);
        bytes.set(U16, 54, (short) rnrTimer.code());
        bytes.set(U64, 56, receiveBufferBytes);
        key.encode(bytes, 64);
        bytes.set(U32, 80, firstPsn);
        return array;
    }

    /**
     * Decodes an untrusted section.
     *
     * @throws DpuException INVALID_VALUE naming the illegal field, UNSUPPORTED_VERSION for another
     *     version
     */
    static RoceDetails decode(byte[] section) {
        MemorySegment bytes = MemorySegment.ofArray(section.clone());
        requireForm(bytes, FORM);
        requireSize(bytes, WIRE_BYTES);
        require("sizeBytes", bytes.byteSize(), WIRE_BYTES, WIRE_BYTES);
        int port = Short.toUnsignedInt(bytes.get(U16, 4));
        requirePort(port);
        Gid gid = new Gid(bytes.get(U64, 8), bytes.get(U64, 16), port);
        int prefix = Byte.toUnsignedInt(bytes.get(ValueLayout.JAVA_BYTE, 6));
        require("prefixLength", prefix, 0, LocalNetwork.bits(gid));
        require("reserved", bytes.get(ValueLayout.JAVA_BYTE, 7), 0, 0);
        int queuePair = bytes.get(U32, 48);
        require("queuePair", queuePair, MIN_QUEUE_PAIR, MAX_QUEUE_PAIR);
        int mtu = Short.toUnsignedInt(bytes.get(U16, 52));
        requirePathMtu(mtu);
        int rnrTimer = Short.toUnsignedInt(bytes.get(U16, 54));
        require("rnrTimerCode", rnrTimer, 0, MAX_RNR_TIMER);
        int psn = bytes.get(U32, 80);
        require("firstPsn", psn, 0, SequenceNumber.MAX);
        long buffer = bytes.get(U64, 56);
        require("receiveBufferBytes", buffer, 1, Long.MAX_VALUE);
        return new RoceDetails(
                gid,
                new LocalNetwork(
                        gid,
                        prefix,
                        new UUID(bytes.get(U64, 24), bytes.get(U64, 32)),
                        bytes.get(U64, 40)),
                queuePair,
                mtu,
                new RnrTimer(rnrTimer),
                buffer,
                ConnectKey.decode(bytes, 64),
                psn);
    }

    /**
     * Whether an untrusted section is one of a form.
     *
     * @throws DpuException UNSUPPORTED_VERSION for another version; INVALID_VALUE if it is too
     *     short for a form
     */
    static boolean isOfForm(byte[] section, int form) {
        return formOf(MemorySegment.ofArray(section)) == form;
    }

    private static int formOf(MemorySegment bytes) {
        requireSize(bytes, Integer.BYTES);
        int version = Short.toUnsignedInt(bytes.get(U16, 0));
        if (version != VERSION) {
            throw new DpuException(
                    Status.UNSUPPORTED_VERSION,
                    Text.format(
                            "roce connection details refused: version=%d, expected=%d",
                            version, VERSION));
        }
        return Short.toUnsignedInt(bytes.get(U16, 2));
    }

    static void requireForm(MemorySegment bytes, int form) {
        require("form", formOf(bytes), form, form);
    }

    private static void requireSize(MemorySegment bytes, long least) {
        if (bytes.byteSize() < least) {
            throw refused("sizeBytes", bytes.byteSize(), "" + WIRE_BYTES);
        }
    }

    static void require(String key, long value, long least, long most) {
        if (value < least || value > most) {
            throw refused(key, value, least == most ? "" + least : least + " to " + most);
        }
    }

    static void requirePathMtu(int bytes) {
        require("pathMtuBytes", bytes, MIN_PATH_MTU_BYTES, MAX_PATH_MTU_BYTES);
        require("bitsOfPathMtuBytes", Integer.bitCount(bytes), 1, 1);
    }

    /** Packets of a NIC with any other port are taken for those of the one at the usual port. */
    private static void requirePort(int port) {
        boolean other = port >= Gid.FIRST_OTHER_PORT && port < Gid.FIRST_FLOW_PORT;
        if (!other && port != Headers.UDP_PORT) {
            throw refused(
                    "port",
                    port,
                    Headers.UDP_PORT
                            + ", or "
                            + Gid.FIRST_OTHER_PORT
                            + " to "
                            + (Gid.FIRST_FLOW_PORT - 1));
        }
    }

    private static DpuException refused(String key, long value, String expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                Text.format(
                        "roce connection details refused: %s=%d, expected=%s",
                        key, value, expected));
    }
}
