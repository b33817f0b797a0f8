package io.softdpu.core.spi.memory;

import io.softdpu.core.Status;
import java.lang.foreign.MemorySegment;

/**
 * Access to the memory behind an mmap or a buf, for the libraries that move its bytes. There is one
 * object of it; a library keeps it in a constant:
 *
 * <pre>{@code
 * private static final Regions<Mmap, Buf, Permissions, Device> REGIONS = MemoryServices.regions();
 * }</pre>
 *
 * <p>Memory is addressed by a segment for the whole range of the mmap and an offset in it: {@code
 * segmentOf(buf)} with {@code buf.offset()} and {@code buf.dataOffset()}. Before a task uses memory
 * the library asks {@link #checkUse}, and again in each progress that goes on with the task: an
 * import can be revoked at any time. From submission to completion a buf is marked, as {@linkplain
 * #markSource source} or as {@linkplain #markDestination destination}, which also keeps its memory
 * from being closed. Nothing here allocates. The methods for an mmap may be called by any thread,
 * those for a buf by the thread that has the buf.
 *
 * <p>The package of mmaps implements it, which the type parameters let stand above it: a call of a
 * library arrives there in one step.
 *
 * @param <M> the class of mmaps
 * @param <B> the class of bufs
 * @param <P> the class of permissions
 * @param <D> the class of devices
 */
public abstract class Regions<M, B, P, D> {
    /** For the package of mmaps alone. */
    protected Regions() {}

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
    public abstract Status checkUse(M mmap, P needed);

    /**
     * The same, for the device of a context as well.
     *
     * @return as above; NOT_PERMITTED also if the device was not added to the mmap
     */
    public abstract Status checkUse(M mmap, D device, P needed);

    /**
     * The whole range of the buf's mmap, local or imported.
     *
     * @throws DpuException NOT_SUPPORTED for an import without a mapping
     */
    public abstract MemorySegment segmentOf(B buf);

    /**
     * The whole range of the mmap, local or imported.
     *
     * @throws DpuException NOT_SUPPORTED for an import without a mapping
     */
    public abstract MemorySegment memoryOf(M mmap);

    /** Whether {@link #memoryOf} has something to give: false for an import without a mapping. */
    public abstract boolean isMapped(M mmap);

    /**
     * The number by which RDMA addresses the first byte: of a local mmap where it lies in this
     * process, of an import what the exporter said, so that a range has one address on all
     * machines.
     */
    public abstract long remoteAddress(M mmap);

    /** The key of the mmap's RDMA export, or of the export that it was imported from; 0: none. */
    public abstract int remoteKey(M mmap);

    /**
     * Keeps the mmap from being closed, as a buf in it does.
     *
     * @throws DpuException BAD_STATE if it is not started
     */
    public abstract void retain(M mmap);

    /** Takes {@link #retain} back. */
    public abstract void release(M mmap);

    /**
     * Takes the buf, and the list that it is the head of, for a task to read. All of it or nothing.
     *
     * @param maxListLength how many elements the library accepts; 1 if it knows no lists
     * @return SUCCESS; INVALID_VALUE if the list is longer; IN_USE if another task has it already,
     *     or this one in its other place; NOT_PERMITTED if it is in a list behind its head;
     *     BAD_STATE if it was released
     */
    public abstract Status markSource(B list, int maxListLength);

    /**
     * The same, for a task to write.
     *
     * @return as {@link #markSource}
     */
    public abstract Status markDestination(B list, int maxListLength);

    /**
     * The same, where it is known how much the task writes: a sanitizer leaves alone what is behind
     * that.
     *
     * @param atMostBytes how much at most
     * @return as {@link #markSource}
     */
    public abstract Status markDestination(B list, int maxListLength, long atMostBytes);

    /** Gives the buf, and the list that it is the head of, back to the user. */
    public abstract void clearInFlight(B list);

    /**
     * Counts bytes that were written into the tailroom of one buf: the data length grows by them.
     * For a list there is {@code BufLists.appendData}.
     *
     * @throws DpuException INVALID_VALUE if the tailroom is smaller
     */
    public abstract void appendData(B buf, long sizeBytes);
}
