package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.internal.access.MachineAccess;
import io.softdpu.core.internal.access.MemoryAccess;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.memory.Grant;
import io.softdpu.core.spi.memory.MemoryKey;
import io.softdpu.core.spi.memory.ProtectionDomain;
import io.softdpu.core.spi.memory.RemoteMemory;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Access to the memory behind an mmap or a buf, for the libraries that move its bytes.
 *
 * <p>Memory is addressed by a segment for the whole range of the mmap and an offset in it: {@code
 * segmentOf(buf)} with {@code buf.offset()} and {@code buf.dataOffset()}. Before a task uses memory
 * the library checks the right to it, by a {@code MemoryRight} that spares {@link #checkUse} where
 * the mmap was found right before, and again in each progress that continues the task: an import
 * can be revoked at any time. From submission to completion a buf is marked, as {@linkplain
 * #markSource source} or as {@linkplain #markDestination destination}, which also keeps its memory
 * from being closed. Nothing here allocates. The methods for an mmap may be called by any thread,
 * those for a buf by the thread that has the buf.
 */
public final class Regions {
    private static final MemoryAccess<Mmap, Buf, Permissions, Device> ACCESS =
            MemoryAccess.of(Mmap.class, Buf.class, Permissions.class, Device.class);

    /** Has no memory of its own: it is never started. */
    private static final Thread NO_OWNER = Thread.ofPlatform().unstarted(() -> {});

    private Regions() {}

    /**
     * Checks that the rights are granted and the memory exists.
     *
     * @param needed rights that the task needs: {@code LOCAL_*} for memory that this machine's
     *     device reads or writes itself, its own or an import from PCIe; {@code RDMA_*} for the far
     *     end of an RDMA operation, which is an import from RDMA
     * @return null if they are; BAD_STATE if the mmap is not started; NOT_PERMITTED if a right is
     *     missing, or an import from RDMA is used like memory of this machine; NOT_SUPPORTED for an
     *     import from PCIe without a mapping; SHUTDOWN if the exporter has revoked it;
     *     CONNECTION_RESET if the exporter has ended
     */
    public static @Nullable Refusal checkUse(Mmap mmap, Permissions needed) {
        return ACCESS.checkUse(mmap, needed);
    }

    /**
     * The same, for the device of a context as well.
     *
     * @return as above; NOT_PERMITTED also if the device was not added to the mmap
     */
    public static @Nullable Refusal checkUse(Mmap mmap, Device device, Permissions needed) {
        return ACCESS.checkUse(mmap, device, needed);
    }

    /**
     * Checks that any thread can access the memory: for a library whose threads carry out tasks
     * beside the engine's. No allocation unless it is refused, no lock.
     *
     * @return null if it can; NOT_SUPPORTED for memory that is confined to a thread
     */
    public static @Nullable Refusal checkAnyThread(Mmap mmap) {
        MemorySegment memory = ACCESS.mapped(mmap);
        if (memory == null || memory.isAccessibleBy(NO_OWNER)) {
            return null;
        }
        return Refusal.of(
                Status.NOT_SUPPORTED,
                "memory is confined to a thread, and another one carries out the task: mmap=%s,"
                        + " expected=memory of a shared arena, of the heap, or SharedMemory or"
                        + " LocalMemory",
                mmap);
    }

    /** The grant of the mmap's present start; null if each use has to be checked. */
    public static @Nullable Grant grantOf(Mmap mmap) {
        return ACCESS.grantOf(mmap);
    }

    /**
     * The whole range of the buf's mmap, local or imported.
     *
     * @throws DpuException NOT_SUPPORTED for an import without a mapping
     */
    public static MemorySegment segmentOf(Buf buf) {
        return memoryOf(buf.mmap());
    }

    /**
     * The whole range of the mmap, local or imported.
     *
     * @throws DpuException NOT_SUPPORTED for an import without a mapping
     */
    public static MemorySegment memoryOf(Mmap mmap) {
        MemorySegment segment = ACCESS.mapped(mmap);
        if (segment == null) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    "mmap was imported without a mapping, for re-export only: mmap=" + mmap);
        }
        return segment;
    }

    /** The peer's memory behind an import for RDMA; the mmap has been checked. */
    public static RemoteMemory remoteOf(Mmap mmap) {
        return ACCESS.remoteOf(mmap);
    }

    /**
     * Exports an mmap for RDMA, as {@link Mmap#exportRdma}, and returns the key and the address by
     * which packets name it.
     *
     * @throws DpuException as {@link Mmap#exportRdma}
     */
    public static MemoryKey rdmaKeyOf(Mmap mmap, Device device) {
        return ACCESS.rdmaKeyOf(mmap, device);
    }

    /**
     * Creates an import of the memory of a peer that has no export blobs: as that of an RDMA export
     * of another kernel.
     *
     * @param gid 16 bytes, of the device by which the peer grants access
     * @param address of the first byte, as the peer names it: a multiple of 8, whose range does not
     *     wrap
     * @param key not 0
     * @param sizeBytes at least 1
     * @param permissions {@code RDMA_*} alone
     * @throws DpuException INVALID_VALUE naming the argument that is wrong; TOO_BIG if it is larger
     *     than the machine imports; BAD_STATE if the device is closed
     */
    public static Mmap importByKey(
            Device device,
            byte[] gid,
            long address,
            int key,
            long sizeBytes,
            Permissions permissions) {
        return ACCESS.importByKey(device, gid, address, key, sizeBytes, permissions);
    }

    /**
     * The memory of a device that peers may access by key; the same for all that were opened from
     * one function of a machine.
     */
    public static ProtectionDomain domainOf(Device device) {
        return MachineAccess.of(Machine.class)
                .domain(device.machine(), device.info().function().key());
    }

    /** Whether {@link #memoryOf} returns memory: false for an import without a mapping. */
    public static boolean isMapped(Mmap mmap) {
        return ACCESS.mapped(mmap) != null;
    }

    /**
     * Keeps the mmap open, as a buf in it does.
     *
     * @throws DpuException BAD_STATE if it is not started
     */
    public static void retain(Mmap mmap) {
        ACCESS.retain(mmap);
    }

    /** Reverts {@link #retain}. */
    public static void release(Mmap mmap) {
        ACCESS.release(mmap);
    }

    /**
     * Marks the buf, or the list that it is the head of, as read by a task; all of it or nothing.
     *
     * @param maxListLength limit of elements of the library; 1 if it does not support lists
     * @return null if it was marked; INVALID_VALUE if the list is longer; IN_USE if another task
     *     has it already, or this task as its other operand; NOT_PERMITTED if it is in a list
     *     behind its head; BAD_STATE if it was released
     */
    public static @Nullable Refusal markSource(Buf list, int maxListLength) {
        return ACCESS.markSource(list, maxListLength);
    }

    /**
     * The same, as written by a task.
     *
     * @return as {@link #markSource}
     */
    public static @Nullable Refusal markDestination(Buf list, int maxListLength) {
        return ACCESS.markDestination(list, maxListLength, Long.MAX_VALUE);
    }

    /**
     * The same, if the number of bytes is known: a sanitizer does not change memory after that.
     *
     * @param atMostBytes limit of the bytes that the task writes
     * @return as {@link #markSource}
     */
    public static @Nullable Refusal markDestination(Buf list, int maxListLength, long atMostBytes) {
        return ACCESS.markDestination(list, maxListLength, atMostBytes);
    }

    /** Returns the buf, or the list that it is the head of, to the user. */
    public static void clearInFlight(Buf list) {
        ACCESS.clearInFlight(list);
    }

    /**
     * Adds bytes written into the tailroom of one buf to its data length. For lists use {@code
     * BufLists.appendData}.
     *
     * @throws DpuException INVALID_VALUE if the tailroom is smaller
     */
    public static void appendData(Buf buf, long sizeBytes) {
        ACCESS.appendData(buf, sizeBytes);
    }
}
