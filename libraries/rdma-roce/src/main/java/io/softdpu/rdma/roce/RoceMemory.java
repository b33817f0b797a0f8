package io.softdpu.rdma.roce;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.Regions;
import io.softdpu.core.spi.memory.MemoryKey;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.roce.wire.Gid;
import java.net.InetAddress;

/**
 * Memory as packets name it, by address and key: for a peer that has no export blobs, as programs
 * of the verbs, whose memory regions have an address and an rkey.
 *
 * <p>Who has these, and is connected to an instance that grants the operation, has access: a
 * program passes them to the intended peer only. Immutable; any thread.
 *
 * @param address of the first byte, unsigned; a multiple of 8, by which atomic operations find
 *     their words. Of memory that begins elsewhere it is the first one inside.
 * @param key not 0
 * @param sizeBytes at least 1; the range does not wrap
 * @param permissions one or more of {@code RDMA_READ}, {@code RDMA_WRITE} and {@code RDMA_ATOMIC},
 *     and no others
 */
public record RoceMemory(long address, int key, long sizeBytes, Permissions permissions) {
    /**
     * Checks the numbers.
     *
     * @throws DpuException INVALID_VALUE naming the one that is illegal
     */
    public RoceMemory {
        Arguments.notNull(permissions, "permissions");
        if (key == 0) {
            throw illegal("key", "0", "another number");
        }
        if (sizeBytes < 1) {
            throw illegal("sizeBytes", Long.toString(sizeBytes), "at least 1");
        }
        if ((address & (Long.BYTES - 1)) != 0) {
            throw illegal("address", "0x" + Long.toHexString(address), "a multiple of 8");
        }
        if (Long.compareUnsigned(address + sizeBytes - 1, address) < 0) {
            throw illegal(
                    "address",
                    "0x" + Long.toHexString(address),
                    "a range of " + sizeBytes + " bytes that does not wrap");
        }
        if (!permissions.allowsRdma() || !permissions.equals(permissions.rdmaOnly())) {
            throw illegal("permissions", permissions.toString(), "RDMA_* alone");
        }
    }

    private static DpuException illegal(String key, String value, String expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                Text.format(
                        "memory of a peer is illegal: %s=%s, expected=%s", key, value, expected));
    }

    /**
     * Exports an mmap for RDMA, for the peer's program.
     *
     * @param mmap to be exported, as by {@link Mmap#exportRdma}
     * @param device one of its devices
     * @return the same each time until the mmap is stopped
     * @throws DpuException as {@link Mmap#exportRdma}
     */
    public static RoceMemory of(Mmap mmap, Device device) {
        Arguments.notNull(mmap, "mmap");
        MemoryKey key = Regions.rdmaKeyOf(mmap, Arguments.notNull(device, "device"));
        return new RoceMemory(
                key.address(), key.key(), mmap.sizeBytes(), mmap.permissions().rdmaOnly());
    }

    /**
     * Creates an mmap over this memory of a peer: as one that was imported from an RDMA export of
     * another machine. It is started, and ends with {@link Mmap#close}; nothing tells of the end of
     * the memory but the peer, which refuses the operation.
     *
     * @param gid address of the peer's device: an IPv4 address as that of its connection, or any
     *     for connections over IPv6
     * @param device of the instance whose tasks use it
     * @throws DpuException TOO_BIG if it is larger than the device's machine imports; BAD_STATE if
     *     the device is closed
     */
    public Mmap importFrom(InetAddress gid, Device device) {
        Arguments.notNull(gid, "gid");
        Arguments.notNull(device, "device");
        return Regions.importByKey(
                device,
                Gid.ofAddress(gid.getAddress()).bytes(),
                address,
                key,
                sizeBytes,
                permissions);
    }

    /** Without the key, by which peers get access. */
    @Override
    public String toString() {
        return Text.format("sizeBytes=%d, permissions=%s", sizeBytes, permissions);
    }
}
