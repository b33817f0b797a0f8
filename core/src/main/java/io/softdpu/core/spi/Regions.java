package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.internal.access.MemoryAccess;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Access to the memory behind an mmap or a buf, for the libraries that move its bytes. There is one
 * object of it; a library keeps it in a constant:
 *
 * <pre>{@code
 * private static final Regions REGIONS = Regions.get();
 * }</pre>
 *
 * <p>Memory is addressed by a segment for the whole range of the mmap and an offset in it: {@code
 * segmentOf(buf)} with {@code buf.offset()} and {@code buf.dataOffset()}. Before a task uses memory
 * the library asks {@link #checkUse}, and again in each progress that goes on with the task: an
 * import can be revoked at any time. From submission to completion a buf is marked, as {@linkplain
 * #markSource source} or as {@linkplain #markDestination destination}, which also keeps its memory
 * from being closed. Nothing here allocates. The methods for an mmap may be called by any thread,
 * those for a buf by the thread that has the buf.
 */
public final class Regions {
    private static final Regions REGIONS = new Regions();

    private final MemoryAccess<Mmap, Buf, Permissions, Device> memory =
            MemoryAccess.of(Mmap.class, Buf.class, Permissions.class, Device.class);

    private Regions() {}

    /** The only one; also before an mmap or a buf has been used. Any thread. */
    public static Regions get() {
        return REGIONS;
    }

    /**
     * Whether these rights are granted and the memory is there.
     *
     * @param needed what the task does with the memory: {@code LOCAL_*} for memory that this
     *     machine's device reads or writes itself, its own or an import from PCIe; {@code RDMA_*}
     *     for the far end of an RDMA operation, which is an import from RDMA
     * @return SUCCESS; BAD_STATE if the mmap is not started; NOT_PERMITTED if a right is missing,
     *     or an import from RDMA is to be used like memory of this machine; NOT_SUPPORTED for an
     *     import from PCIe without a mapping; SHUTDOWN if the exporter has withdrawn it;
     *     CONNECTION_RESET if the exporter has ended
     */
    public Status checkUse(Mmap mmap, Permissions needed) {
        return memory.checkUse(mmap, needed);
    }

    /**
     * The same, for the device of a context as well.
     *
     * @return as above; NOT_PERMITTED also if the device was not added to the mmap
     */
    public Status checkUse(Mmap mmap, Device device, Permissions needed) {
        Status status = memory.checkUse(mmap, needed);
        return status == Status.SUCCESS && !memory.hasDevice(mmap, device)
                ? Status.NOT_PERMITTED
                : status;
    }

    /**
     * The whole range of the buf's mmap, local or imported.
     *
     * @throws DpuException NOT_SUPPORTED for an import without a mapping
     */
    public MemorySegment segmentOf(Buf buf) {
        return segmentOf(buf.mmap());
    }

    /**
     * The whole range of the mmap, local or imported.
     *
     * @throws DpuException NOT_SUPPORTED for an import without a mapping
     */
    public MemorySegment segmentOf(Mmap mmap) {
        @Nullable MemorySegment segment = memory.mapped(mmap);
        if (segment == null) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    "mmap was imported without a mapping, for re-export alone: mmap=" + mmap);
        }
        return segment;
    }

    /** Whether {@link #segmentOf} has something to give: false for an import without a mapping. */
    public boolean isMapped(Mmap mmap) {
        return memory.mapped(mmap) != null;
    }

    /**
     * The number by which RDMA addresses the first byte: of a local mmap where it lies in this
     * process, of an import what the exporter said, so that a range has one address on all
     * machines.
     */
    public long remoteAddress(Mmap mmap) {
        return memory.remoteAddress(mmap);
    }

    /** The key of the mmap's RDMA export, or of the export that it was imported from; 0: none. */
    public int remoteKey(Mmap mmap) {
        return memory.remoteKey(mmap);
    }

    /**
     * Keeps the mmap from being closed, as a buf in it does.
     *
     * @throws DpuException BAD_STATE if it is not started
     */
    public void retain(Mmap mmap) {
        memory.retain(mmap);
    }

    /** Takes {@link #retain} back. */
    public void release(Mmap mmap) {
        memory.release(mmap);
    }

    /**
     * Takes the buf, and the list that it is the head of, for a task to read. All of it or nothing.
     *
     * @param maxListLength how many elements the library accepts; 1 if it knows no lists
     * @return SUCCESS; INVALID_VALUE if the list is longer; IN_USE if another task has it already,
     *     or this one in its other place; NOT_PERMITTED if it is in a list behind its head;
     *     BAD_STATE if it was released
     */
    public Status markSource(Buf list, int maxListLength) {
        return memory.markSource(list, maxListLength);
    }

    /**
     * The same, for a task to write.
     *
     * @return as {@link #markSource}
     */
    public Status markDestination(Buf list, int maxListLength) {
        return memory.markDestination(list, maxListLength, Long.MAX_VALUE);
    }

    /**
     * The same, where it is known how much the task writes: a sanitizer leaves alone what is behind
     * that.
     *
     * @param atMostBytes how much at most
     * @return as {@link #markSource}
     */
    public Status markDestination(Buf list, int maxListLength, long atMostBytes) {
        return memory.markDestination(list, maxListLength, atMostBytes);
    }

    /** Gives the buf, and the list that it is the head of, back to the user. */
    public void clearInFlight(Buf list) {
        memory.clearInFlight(list);
    }

    /**
     * Counts bytes that were written into the tailroom of one buf: the data length grows by them.
     * For a list there is {@link BufLists#appendData}.
     *
     * @throws DpuException INVALID_VALUE if the tailroom is smaller
     */
    public void appendData(Buf buf, long sizeBytes) {
        memory.appendData(buf, sizeBytes);
    }
}
