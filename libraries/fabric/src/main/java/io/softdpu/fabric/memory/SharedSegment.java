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
 * A memfd and this process's mapping of it, with a reference count. At 0 it is unmapped and its
 * descriptor closed.
 *
 * <p>The segment lives in a shared arena, so a thread that still uses it when it is closed gets an
 * {@link IllegalStateException} and never touches unmapped memory. The words of rings and
 * generation pages are accessed by address and not through the segment: their users hold a
 * reference. Any thread may call any method.
 */
public final class SharedSegment {
    /** Limit of the leases that a message names. */
    private static final int MAX_NAMED = 8;

    /** Pause between two attempts to close an arena that a call in another thread holds. */
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
    private final Set<Link> holders = new LinkedHashSet<>();

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
        this.arena = Arena.ofShared(); // first: it can fail, and the mapping would be leaked
        long address = MemoryMapping.map(descriptor, mappedBytes, writable);
        MemorySegment whole = MemoryMapping.segment(address, sizeBytes, arena);
        this.segment = writable ? whole : whole.asReadOnly();
    }

    /**
     * Allocates memory that can be shared with other processes. Every page is allocated and touched
     * before this returns (about 2 s per GiB), so that a full file system is an error here and not
     * a SIGBUS later.
     *
     * @param name appears in {@code /proc/PID/maps} as {@code /memfd:NAME}
     * @param sizeBytes at least 1
     */
    public static SharedSegment allocate(String name, long sizeBytes) {
        if (sizeBytes < 1) {
            throw new FabricException(
                    FabricException.Kind.NOT_SUPPORTED,
                    "shared memory needs at least one byte: sizeBytes=" + sizeBytes);
        }
        String notAvailable =
                "shared memory not available: name=" + name + ", sizeBytes=" + sizeBytes;
        if (sizeBytes > Long.MAX_VALUE - MemoryMapping.pageSize()) {
            throw new FabricException(FabricException.Kind.NO_MEMORY, notAvailable);
        }
        NewMemory memory = NewMemory.checked(notAvailable, sizeBytes);
        int descriptor = -1;
        SharedSegment made = null;
        var scope = RestrictedThreads.enter(RestrictedThreads.Scope.OWN_MEMORY);
        try {
            int created = Memfd.create(name);
            descriptor = created;
            memory.populate(
                    roundUpToPage(sizeBytes),
                    (from, until) -> Memfd.allocate(created, from, until));
            made = new SharedSegment(descriptor, sizeBytes, true, null);
            MemoryMapping.populate(made.segment.address(), made.mappedBytes, true);
            SharedSegment result = made;
            made = null;
            descriptor = -1;
            return result;
        } catch (LinuxException e) {
            throw new FabricException(
                    outOfMemory(e) ? FabricException.Kind.NO_MEMORY : FabricException.Kind.SYSTEM,
                    notAvailable + ", " + e.getMessage(),
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
     * Populates a part of the pages.
     *
     * @param fromBytes offset, a multiple of the page size
     * @param lengthBytes length, a multiple of the page size; cut at the end of the mapping
     * @return offset of the next part
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

    /** The requested size; the file has this rounded up to whole pages. */
    public long sizeBytes() {
        return segment.byteSize();
    }

    /** The memory's descriptor; open while the count is above 0. */
    public int descriptor() {
        return descriptor;
    }

    /**
     * Adds a reference.
     *
     * @return false if the memory has been released already
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
     * Releases a reference; the last release unmaps and closes, which takes a tenth of a second per
     * GiB. For memory of this process, on a thread that may block that long: {@code Bus.release} is
     * for all others.
     */
    public void release() {
        var scope =
                reservation == null
                        ? RestrictedThreads.enter(RestrictedThreads.Scope.OWN_MEMORY)
                        : null;
        try {
            if (dropReference()) {
                close(arena); // from here on the memory cannot be accessed through the segment
                new Unmapping(mappedBytes, this::closeAndReleaseReservation).runAll();
            }
        } finally {
            if (reservation == null) {
                RestrictedThreads.leave(scope);
            }
        }
    }

    private void closeAndReleaseReservation() {
        FileDescriptors.close(descriptor);
        if (reservation != null) {
            reservation.release();
        }
    }

    /**
     * Releases a reference; after the last one a mapping worker unmaps the memory, so this returns
     * at once.
     *
     * @param threads of the bus
     */
    public void release(BusThreads threads) {
        release(threads, () -> {});
    }

    /**
     * Releases a reference; after the last one a mapping worker unmaps the memory.
     *
     * @param threads of the bus
     * @param unmapped runs when that has been done, or at once if there are further references
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
                            // Blocks that only the descriptor references are freed by its close,
                            // which takes time in proportion to their number.
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
     * Closes an arena. A copy by libc holds it for at most a slice: microseconds. So does any other
     * call of the program with a segment of it, as long as that takes.
     */
    static void close(Arena arena) {
        boolean interrupted = false;
        while (arena.scope().isAlive()) {
            try {
                arena.close();
            } catch (IllegalStateException e) {
                interrupted |= Thread.interrupted(); // else parking would return at once
                LockSupport.parkNanos(HELD_ARENA_PARK_NANOS);
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Seals the size and the seals, which cannot be undone; afterwards the memory can be shared. If
     * it is sealed already the kind must be the same: memory is exported either read-only or
     * writable, because a process with a read-only descriptor of writable memory can reopen it
     * writable.
     *
     * @param readOnly whether all but the present mapping of this process may only read
     * @throws FabricException NOT_SUPPORTED if it is sealed with the other access; CLOSED if it has
     *     been released
     */
    public void seal(boolean readOnly) {
        if (!retain()) { // else a file that has reused the descriptor number would be sealed
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
     * Refuses memory that an importer may still have mapped after its region was revoked. A thread
     * of the importer that was stopped in the middle of a copy stores into the memory when it
     * continues, whatever the memory is used for by then.
     *
     * @throws FabricException IN_USE, naming the leases that have not closed
     */
    public void requireReleased() {
        synchronized (holders) {
            if (holders.isEmpty()) {
                return;
            }
            throw new FabricException(
                    FabricException.Kind.IN_USE,
                    "importers still hold this memory from a revoked export: leases="
                            + holders.size()
                            + ", pids="
                            + holders.stream().limit(MAX_NAMED).map(Link::peerPid).toList()
                            + ", sizeBytes="
                            + sizeBytes()
                            + ", expected=no lease, or other memory");
        }
    }

    /** Records leases that continue after their region was revoked. */
    public void addHolders(Collection<Link> links) {
        synchronized (holders) {
            holders.addAll(links);
        }
    }

    /** Records that one of them has ended. */
    public void removeHolder(Link link) {
        synchronized (holders) {
            holders.remove(link);
        }
    }

    /** The exception for use of memory after its last release. */
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
