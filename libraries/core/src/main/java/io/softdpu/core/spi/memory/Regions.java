package io.softdpu.core.spi.memory;

import io.softdpu.core.check.Refusal;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

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
 * the library checks the right to it, by a {@code MemoryRight} that spares {@link #checkUse} where
 * the mmap was found right before, and again in each progress that continues the task: an import
 * can be revoked at any time. From submission to completion a buf is marked, as {@linkplain
 * #markSource source} or as {@linkplain #markDestination destination}, which also keeps its memory
 * from being closed. Nothing here allocates. The methods for an mmap may be called by any thread,
 * those for a buf by the thread that has the buf.
 *
 * <p>The package of mmaps implements it, which is above this one because of the type parameters: a
 * call of a library takes one step.
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
    public abstract @Nullable Refusal checkUse(M mmap, P needed);

    /**
     * The same, for the device of a context as well.
     *
     * @return as above; NOT_PERMITTED also if the device was not added to the mmap
     */
    public abstract @Nullable Refusal checkUse(M mmap, D device, P needed);

    /** The grant of the mmap's present start; null if each use has to be checked. */
    public abstract @Nullable Grant grantOf(M mmap);

    /**
     * The whole range of the buf's mmap, local or imported.
     *
     * @throws io.softdpu.core.DpuException NOT_SUPPORTED for an import without a mapping
     */
    public abstract MemorySegment segmentOf(B buf);

    /**
     * The whole range of the mmap, local or imported.
     *
     * @throws io.softdpu.core.DpuException NOT_SUPPORTED for an import without a mapping
     */
    public abstract MemorySegment memoryOf(M mmap);

    /** The peer's memory behind an import for RDMA; the mmap has been checked. */
    public abstract RemoteMemory remoteOf(M mmap);

    /** Whether {@link #memoryOf} returns memory: false for an import without a mapping. */
    public abstract boolean isMapped(M mmap);

    /**
     * Keeps the mmap open, as a buf in it does.
     *
     * @throws io.softdpu.core.DpuException BAD_STATE if it is not started
     */
    public abstract void retain(M mmap);

    /** Reverts {@link #retain}. */
    public abstract void release(M mmap);

    /**
     * Marks the buf, or the list that it is the head of, as read by a task; all of it or nothing.
     *
     * @param maxListLength limit of elements of the library; 1 if it does not support lists
     * @return null if it was marked; INVALID_VALUE if the list is longer; IN_USE if another task
     *     has it already, or this task as its other operand; NOT_PERMITTED if it is in a list
     *     behind its head; BAD_STATE if it was released
     */
    public abstract @Nullable Refusal markSource(B list, int maxListLength);

    /**
     * The same, as written by a task.
     *
     * @return as {@link #markSource}
     */
    public abstract @Nullable Refusal markDestination(B list, int maxListLength);

    /**
     * The same, if the number of bytes is known: a sanitizer does not change memory after that.
     *
     * @param atMostBytes limit of the bytes that the task writes
     * @return as {@link #markSource}
     */
    public abstract @Nullable Refusal markDestination(B list, int maxListLength, long atMostBytes);

    /** Returns the buf, or the list that it is the head of, to the user. */
    public abstract void clearInFlight(B list);

    /**
     * Adds bytes written into the tailroom of one buf to its data length. For lists use {@code
     * BufLists.appendData}.
     *
     * @throws io.softdpu.core.DpuException INVALID_VALUE if the tailroom is smaller
     */
    public abstract void appendData(B buf, long sizeBytes);
}
