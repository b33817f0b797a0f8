package io.softdpu.fabric.memory;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.thread.BusThreads;
import io.softdpu.fabric.thread.MappingWorkers;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.Memfd;
import io.softdpu.linux.MemoryMapping;
import io.softdpu.linux.RestrictedThreads;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A memfd and this process's mapping of it: an address, a size and a reference count. At count 0
 * the mapping goes and the descriptor is closed.
 *
 * <p>The segment lives in a shared arena, so a thread that still uses it when it is closed gets an
 * {@link IllegalStateException} and never touches unmapped memory. The words of rings and of
 * generations are reached by address, beside the segment: their users hold a reference. Any thread
 * may call any method.
 */
public final class SharedSegment {
    /** Holders that a message names. */
    private static final int MAX_NAMED = 8;

    /** Between two tries to close an arena that a call in another thread holds. */
    private static final long HELD_ARENA_PARK_NANOS = 20_000;

    private static final VarHandle REFERENCES;

    static {
        try {
            REFERENCES =
                    MethodHandles.lookup()
                            .findVarHandle(SharedSegment.class, "references", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int descriptor;
    private final long mappedBytes;
    private final Arena arena;
    private final MemorySegment segment;
    private boolean sealed;
    private boolean readOnlyForOthers;

    /** Links of leases of revoked regions of this memory that have not closed. */
    private final Set<Link> keptBy = new LinkedHashSet<>();

    @SuppressWarnings("unused") // through REFERENCES
    private volatile int references = 1;

    /** Counts memory of a peer while it is mapped here; null for memory of this process. */
    private final MappedBytes.@Nullable Reservation reservation;

    private SharedSegment(
            int descriptor,
            long sizeBytes,
            boolean writable,
            MappedBytes.@Nullable Reservation reservation) {
        this.descriptor = descriptor;
        this.reservation = reservation;
        this.mappedBytes = roundUpToPage(sizeBytes);
        long address = MemoryMapping.map(descriptor, mappedBytes, writable);
        this.arena = Arena.ofShared();
        MemorySegment whole = MemoryMapping.segment(address, sizeBytes, arena);
        this.segment = writable ? whole : whole.asReadOnly();
    }

    /**
     * Allocates memory that other processes can be given. Every page is allocated and touched
     * before this returns (about 2 s a GiB), so that a full file system is an error here and no
     * fault later.
     *
     * @param name shows in {@code /proc/PID/maps} as {@code /memfd:NAME}
     * @param sizeBytes at least 1
     */
    public static SharedSegment allocate(String name, long sizeBytes) {
        if (sizeBytes < 1) {
            throw new FabricException(
                    FabricException.Kind.NOT_SUPPORTED,
                    "shared memory needs at least one byte: sizeBytes=" + sizeBytes);
        }
        if (sizeBytes > Long.MAX_VALUE - MemoryMapping.pageSize()) {
            throw new FabricException(
                    FabricException.Kind.NO_MEMORY,
                    "shared memory not available: name=" + name + ", sizeBytes=" + sizeBytes);
        }
        int descriptor = -1;
        SharedSegment made = null;
        var scope = RestrictedThreads.enter(RestrictedThreads.Scope.OWN_MEMORY);
        try {
            descriptor = Memfd.create(name);
            Memfd.allocate(descriptor, roundUpToPage(sizeBytes));
            made = new SharedSegment(descriptor, sizeBytes, true, null);
            MemoryMapping.populate(made.segment.address(), made.mappedBytes, true);
            SharedSegment result = made;
            made = null;
            descriptor = -1;
            return result;
        } catch (LinuxException e) {
            throw new FabricException(
                    outOfMemory(e) ? FabricException.Kind.NO_MEMORY : FabricException.Kind.SYSTEM,
                    "shared memory not available: name="
                            + name
                            + ", sizeBytes="
                            + sizeBytes
                            + ", "
                            + e.getMessage(),
                    e);
        } finally {
            if (made != null) {
                made.release();
            } else if (descriptor >= 0) {
                FileDescriptors.close(descriptor);
            }
            RestrictedThreads.leave(scope);
        }
    }

    /**
     * Maps a descriptor that came from a peer and was checked by {@link DescriptorCheck}, and
     * populates nothing. Takes the descriptor and the reservation over unless it throws.
     */
    static SharedSegment map(
            int descriptor, long sizeBytes, boolean writable, MappedBytes.Reservation reservation) {
        return new SharedSegment(descriptor, sizeBytes, writable, reservation);
    }

    /**
     * Brings in a part of the pages.
     *
     * @param fromBytes where to begin, a multiple of the page size
     * @param lengthBytes how much, a multiple of the page size; cut at the end of the mapping
     * @return where the next part begins
     */
    long populate(long fromBytes, long lengthBytes, boolean write) {
        long length = Math.min(lengthBytes, mappedBytes - fromBytes);
        MemoryMapping.populate(segment.address() + fromBytes, length, write);
        return fromBytes + length;
    }

    /** The memory; after the last release each access throws IllegalStateException. */
    public MemorySegment segment() {
        return segment;
    }

    /** Address of the first byte in this process. */
    public long address() {
        return segment.address();
    }

    /** Size as asked for; the descriptor is this rounded up to whole pages. */
    public long sizeBytes() {
        return segment.byteSize();
    }

    /** The memory's descriptor; open while there is a user. */
    public int descriptor() {
        return descriptor;
    }

    /**
     * Counts one more user.
     *
     * @return false if the memory is gone already
     */
    public boolean retain() {
        int seen = (int) REFERENCES.getVolatile(this);
        while (seen > 0) {
            if (REFERENCES.compareAndSet(this, seen, seen + 1)) {
                return true;
            }
            seen = (int) REFERENCES.getVolatile(this);
        }
        return false;
    }

    /**
     * Counts one user less; the last one unmaps and closes, which takes a tenth of a second per
     * GiB. For memory of this process, on a thread that has the time: {@code Bus.release} is for
     * the rest.
     */
    public void release() {
        var scope =
                reservation == null
                        ? RestrictedThreads.enter(RestrictedThreads.Scope.OWN_MEMORY)
                        : null;
        try {
            if (dropReference()) {
                close(arena); // from here on the memory cannot be reached through the segment
                new Unmapping(mappedBytes, this::closeAndCountNoLonger).runAll();
            }
        } finally {
            if (reservation == null) {
                RestrictedThreads.leave(scope);
            }
        }
    }

    private void closeAndCountNoLonger() {
        FileDescriptors.close(descriptor);
        if (reservation != null) {
            reservation.release();
        }
    }

    /**
     * Counts one user less; the last one has a mapping worker unmap the memory, so that this
     * returns at once.
     *
     * @param threads of the bus
     */
    public void release(BusThreads threads) {
        release(threads, () -> {});
    }

    /**
     * Counts one user less; the last one has a mapping worker unmap the memory.
     *
     * @param threads of the bus
     * @param unmapped runs when that has been done, or at once where there are further users
     */
    public void release(BusThreads threads, Runnable unmapped) {
        if (!dropReference()) {
            unmapped.run();
            return;
        }
        // From here on the segment cannot reach the memory, unless a call in another thread holds
        // it.
        boolean unreachable = tryClose(arena);
        MappedBytes.Reservation counted = reservation;
        Unmapping unmapping =
                new Unmapping(
                        mappedBytes,
                        () -> {
                            // Blocks that only the descriptor still holds are freed by its close,
                            // which takes as long as they are many.
                            threads.closer().closeRefused(descriptor);
                            if (counted != null) {
                                counted.release();
                            }
                            unmapped.run();
                        });
        threads.workers()
                .submit(
                        counted == null ? MappingWorkers.OWN_MEMORY : counted.peerPid(),
                        () -> {
                            if (!unreachable) {
                                close(arena);
                            }
                            return unmapping.runSlice();
                        });
    }

    private boolean dropReference() {
        int before = (int) REFERENCES.getAndAdd(this, -1);
        if (before < 1) {
            throw new IllegalStateException("shared memory released too often: count=" + before);
        }
        return before == 1;
    }

    /** Unmaps from the end to the beginning, slice by slice. */
    private final class Unmapping {
        private final long address = segment.address();
        private final Runnable end;
        private long leftBytes;

        Unmapping(long mappedBytes, Runnable end) {
            this.leftBytes = mappedBytes;
            this.end = end;
        }

        boolean runSlice() {
            long length = Math.min(MappingWorkers.SLICE_BYTES, leftBytes);
            leftBytes -= length;
            MemoryMapping.unmap(address + leftBytes, length);
            if (leftBytes > 0) {
                return true;
            }
            end.run();
            return false;
        }

        void runAll() {
            while (runSlice()) {
                // all slices
            }
        }
    }

    private static boolean tryClose(Arena arena) {
        try {
            arena.close();
            return true;
        } catch (IllegalStateException e) { // held
            return false;
        }
    }

    /**
     * Closes an arena. A copy by libc holds it while it lasts, a slice at most: microseconds. So
     * does whatever else a program calls with a segment of it, as long as that takes.
     */
    static void close(Arena arena) {
        boolean interrupted = false;
        while (arena.scope().isAlive()) {
            try {
                arena.close();
            } catch (IllegalStateException e) {
                interrupted |= Thread.interrupted(); // or parking would not wait
                LockSupport.parkNanos(HELD_ARENA_PARK_NANOS);
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Fixes size and seals for good; afterwards the memory can be given away. If it is sealed
     * already the kind has to be the same: one memory is exported either read-only or writable,
     * because a read-only descriptor of writable memory can be reopened writable by whoever holds
     * it.
     *
     * @param readOnly whether everybody but the present mapping of this process shall only read
     * @throws FabricException NOT_SUPPORTED if it is sealed the other way; CLOSED if it is gone
     */
    public void seal(boolean readOnly) {
        if (!retain()) { // or the seals, for good, would be those of whoever has the number now
            throw gone();
        }
        try {
            sealHeld(readOnly);
        } finally {
            release();
        }
    }

    private synchronized void sealHeld(boolean readOnly) {
        if (sealed) {
            if (readOnlyForOthers != readOnly) {
                throw new FabricException(
                        FabricException.Kind.NOT_SUPPORTED,
                        "one memory is exported either read-only or writable: exported="
                                + (readOnlyForOthers ? "read-only" : "writable")
                                + ", asked="
                                + (readOnly ? "read-only" : "writable"));
            }
            return;
        }
        int seals = Memfd.SEAL_SHRINK | Memfd.SEAL_GROW | Memfd.SEAL_SEAL;
        Memfd.addSeals(descriptor, readOnly ? seals | Memfd.SEAL_FUTURE_WRITE : seals);
        sealed = true;
        readOnlyForOthers = readOnly;
    }

    /**
     * Refuses memory of which an importer may still have a mapping after its region was revoked. A
     * thread of it that was stopped in the middle of a copy stores into the memory when it goes on,
     * whoever has the memory by then.
     *
     * @throws FabricException IN_USE, naming the leases that have not closed
     */
    public void requireLetGo() {
        synchronized (keptBy) {
            if (keptBy.isEmpty()) {
                return;
            }
            throw new FabricException(
                    FabricException.Kind.IN_USE,
                    "importers still hold this memory from an export that was withdrawn: leases="
                            + keptBy.size()
                            + ", pids="
                            + keptBy.stream().limit(MAX_NAMED).map(Link::peerPid).toList()
                            + ", sizeBytes="
                            + sizeBytes()
                            + ", expected=no lease, or other memory");
        }
    }

    /** The leases of these links outlive the region that they are of. */
    public void keptBy(Collection<Link> links) {
        synchronized (keptBy) {
            keptBy.addAll(links);
        }
    }

    /** One of them has closed. */
    public void letGoBy(Link link) {
        synchronized (keptBy) {
            keptBy.remove(link);
        }
    }

    /** What is thrown where memory is used after its last release. */
    public static FabricException gone() {
        return new FabricException(FabricException.Kind.CLOSED, "memory has been released");
    }

    static long roundUpToPage(long sizeBytes) {
        long page = MemoryMapping.pageSize();
        return Math.addExact(sizeBytes, page - 1) / page * page;
    }

    static boolean outOfMemory(LinuxException e) {
        return e.errno() == Errno.ENOMEM || e.errno() == Errno.ENOSPC || e.errno() == Errno.EFBIG;
    }
}
