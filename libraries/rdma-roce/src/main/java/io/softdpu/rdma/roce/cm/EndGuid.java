package io.softdpu.rdma.roce.cm;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import org.jspecify.annotations.Nullable;

/**
 * CA GUID of an end of softdpu. A connection message has no field for what an instance grants, for
 * the length of private data, or for the size of a receive buffer, and a REP none for a path MTU:
 * the GUID states them.
 *
 * <pre>
 * 0 prefix 5e d9   2 version, 4 bits: 1; grants, 4 bits: 1 read, 2 write, 4 atomic
 * 3 bytes of private data of the program   4 receive buffer, 5 bits: 2^n bytes; path MTU, 3 bits
 * 5 random number of the adapter, 3 bytes
 * </pre>
 *
 * <p>The prefix has the bit of locally administered addresses, and not that of groups. Byte 3 is
 * never ff: that and fe in byte 4 mark a GUID that was made of a MAC address, as by Linux. The
 * random number keeps apart the ends of several machines at a peer that identifies connections by
 * GUID and communication id, or by GUID and queue pair. Immutable.
 *
 * @param grants among the rights of RDMA peers
 * @param privateDataBytes 0 to 254
 * @param receiveBufferBytes a power of two up to 2^31
 * @param pathMtuCode 1 for 256 bytes to 5 for 4,096
 * @param adapter 24 bits
 */
record EndGuid(
        Permissions grants,
        int privateDataBytes,
        long receiveBufferBytes,
        int pathMtuCode,
        int adapter) {
    /** Bits of the random number of an adapter. */
    static final int ADAPTER_BITS = 24;

    /** What an end without such a GUID counts as granting: its NAK decides. */
    static final Permissions ALL =
            Permissions.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE, AccessFlag.RDMA_ATOMIC);

    static final int MIN_MTU_CODE = 1;
    static final int MAX_MTU_CODE = 5;
    private static final int MTU_SHIFT = 7; // from the code to bytes: 2^(code + 7)

    private static final int PREFIX_AND_VERSION = 0x5ed9_1;
    private static final int VERSION_SHIFT = 44;
    private static final int GRANTS_SHIFT = 40;
    private static final int DATA_SHIFT = 32;
    private static final int BUFFER_SHIFT = 27;
    private static final int MTU_CODE_SHIFT = 24;
    private static final int READ = 1;
    private static final int WRITE = 2;
    private static final int ATOMIC = 4;
    private static final int MAX_BUFFER_LOG = 31;

    /** The GUID of an end with these terms. */
    static EndGuid of(LocalTerms terms, int pathMtuCode, int privateDataBytes, int adapter) {
        return new EndGuid(
                terms.attachment().grants().rdmaOnly(),
                privateDataBytes,
                powerAtMost(terms.receiveBufferBytes()),
                pathMtuCode,
                adapter);
    }

    /** The code of a path MTU. */
    static int mtuCode(int pathMtuBytes) {
        return Integer.numberOfTrailingZeros(pathMtuBytes) - MTU_SHIFT;
    }

    /** The path MTU of a code, in bytes. */
    static int mtuBytes(int code) {
        return 1 << (code + MTU_SHIFT);
    }

    private static long powerAtMost(long bytes) {
        return Math.min(Long.highestOneBit(Math.max(bytes, 1)), 1L << MAX_BUFFER_LOG);
    }

    long encode() {
        int granted =
                (grants.has(AccessFlag.RDMA_READ) ? READ : 0)
                        | (grants.has(AccessFlag.RDMA_WRITE) ? WRITE : 0)
                        | (grants.has(AccessFlag.RDMA_ATOMIC) ? ATOMIC : 0);
        return (long) PREFIX_AND_VERSION << VERSION_SHIFT
                | (long) granted << GRANTS_SHIFT
                | (long) privateDataBytes << DATA_SHIFT
                | (long) Long.numberOfTrailingZeros(receiveBufferBytes) << BUFFER_SHIFT
                | (long) pathMtuCode << MTU_CODE_SHIFT
                | adapter;
    }

    /** Whether a GUID is one of an end of softdpu, of this version. */
    static boolean isOne(long guid) {
        return guid >>> VERSION_SHIFT == PREFIX_AND_VERSION;
    }

    /**
     * Decodes the GUID of an untrusted message.
     *
     * @param maxPrivateDataBytes what the message has place for
     * @return null if the end is none of softdpu, or of another version
     * @throws DpuException INVALID_VALUE naming the illegal field
     */
    static @Nullable EndGuid decode(long guid, int maxPrivateDataBytes) {
        if (!isOne(guid)) {
            return null;
        }
        int data = (int) (guid >>> DATA_SHIFT) & 0xff;
        if (data > maxPrivateDataBytes) {
            throw refused("privateDataBytes", data, "0 to " + maxPrivateDataBytes);
        }
        int mtu = (int) (guid >>> MTU_CODE_SHIFT) & 7;
        if (mtu < MIN_MTU_CODE || mtu > MAX_MTU_CODE) {
            throw refused("pathMtuCode", mtu, MIN_MTU_CODE + " to " + MAX_MTU_CODE);
        }
        int granted = (int) (guid >>> GRANTS_SHIFT);
        return new EndGuid(
                permissions(granted),
                data,
                1L << ((guid >>> BUFFER_SHIFT) & MAX_BUFFER_LOG),
                mtu,
                (int) guid & ((1 << ADAPTER_BITS) - 1));
    }

    private static Permissions permissions(int granted) {
        int bits =
                ((granted & READ) != 0 ? AccessFlag.RDMA_READ.bit() : 0)
                        | ((granted & WRITE) != 0 ? AccessFlag.RDMA_WRITE.bit() : 0)
                        | ((granted & ATOMIC) != 0 ? AccessFlag.RDMA_ATOMIC.bit() : 0);
        return new Permissions(bits);
    }

    private static DpuException refused(String field, int value, String expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                "GUID of the peer's end refused: field="
                        + field
                        + ", value="
                        + value
                        + ", expected="
                        + expected);
    }
}
