package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.LONG;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * Maps files and anonymous memory. Any thread.
 *
 * <p>An address from {@link #map} or {@link #mapPrivate} belongs to the caller, which unmaps it
 * once, after the last access: a later access is not detected, and the address may have been reused
 * by then.
 */
public final class MemoryMapping {
    private static final int PROT_READ = 1;
    private static final int PROT_WRITE = 2;
    private static final int MAP_SHARED = 1;
    private static final int MAP_PRIVATE = 2;
    private static final int MAP_ANONYMOUS = 0x20;
    private static final int MAP_POPULATE = 0x8000;
    private static final int NO_FILE = -1;
    private static final long MAP_FAILED = -1;
    private static final int MADV_HUGEPAGE = 14;
    private static final int MADV_POPULATE_READ = 22;
    private static final int MADV_POPULATE_WRITE = 23;
    private static final int SC_PAGESIZE = 30;

    private static final MethodHandle MMAP =
            Libc.bind("mmap", POINTER, POINTER, LONG, INT, INT, INT, LONG);
    private static final MethodHandle MUNMAP = Libc.bind("munmap", INT, POINTER, LONG);
    private static final MethodHandle MADVISE = Libc.bind("madvise", INT, POINTER, LONG, INT);

    private static final VarHandle WORD = ValueLayout.JAVA_INT.varHandle();

    private static final long PAGE_SIZE_BYTES = askPageSize();

    private MemoryMapping() {}

    /**
     * Maps a file from its beginning, shared with all that map it.
     *
     * @param fd the file; it may be closed afterwards
     * @param sizeBytes size of the mapping, above 0; pages beyond the file's end must not be
     *     accessed
     * @param writable whether it may be written, else read only
     * @return the address, page-aligned
     * @throws LinuxException EPERM for a writable mapping of a file sealed against it; ENOMEM;
     *     ENODEV if the file cannot be mapped
     */
    public static long map(int fd, long sizeBytes, boolean writable) {
        return map(fd, 0, sizeBytes, writable, MAP_SHARED);
    }

    /**
     * Maps a part of what a descriptor of the kernel offers, such as a ring, and populates it.
     *
     * @param offsetBytes which part
     */
    static long mapShared(int fd, long offsetBytes, long sizeBytes) {
        return map(fd, offsetBytes, sizeBytes, true, MAP_SHARED | MAP_POPULATE);
    }

    /**
     * Maps private anonymous memory, filled with zeros. No page is populated.
     *
     * @param sizeBytes size of the mapping, above 0
     * @return the address, page-aligned
     * @throws LinuxException ENOMEM
     */
    public static long mapPrivate(long sizeBytes) {
        return map(NO_FILE, 0, sizeBytes, true, MAP_PRIVATE | MAP_ANONYMOUS);
    }

    private static long map(int fd, long offsetBytes, long sizeBytes, boolean writable, int flags) {
        RestrictedThreads.requireAllowed("mmap");
        CallState state = CallState.current();
        long result;
        try {
            result =
                    (long)
                            MMAP.invokeExact(
                                    state.errno,
                                    0L,
                                    sizeBytes,
                                    protection(writable),
                                    flags,
                                    fd,
                                    offsetBytes);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result == MAP_FAILED) {
            throw new LinuxException(
                    "mmap",
                    state.lastErrno(),
                    "fd=" + fd + ", sizeBytes=" + sizeBytes + ", writable=" + writable);
        }
        Origins.mapped(result);
        return result;
    }

    /**
     * Requests large pages for a range of {@link #mapPrivate}, before its pages are populated. If
     * the system provides none the pages are ordinary ones.
     *
     * @param address the beginning, page-aligned
     * @param sizeBytes the length
     * @throws LinuxException if the kernel has large pages: EINVAL if the address is not
     *     page-aligned; ENOMEM if part of the range is not mapped
     */
    public static void preferLargePages(long address, long sizeBytes) {
        RestrictedThreads.requireAllowed("madvise");
        CallState state = CallState.current();
        if (madvise(state, address, sizeBytes, MADV_HUGEPAGE) == 0) {
            return;
        }
        int errno = state.lastErrno();
        boolean notNow = errno == Errno.EAGAIN;
        // As in populate: a kernel that has no large pages refuses the advice on nothing, too.
        boolean never = errno == Errno.EINVAL && madvise(state, 0, 0, MADV_HUGEPAGE) != 0;
        if (!notNow && !never) {
            throw failure("madvise", errno, address, sizeBytes);
        }
    }

    /**
     * Unmaps a mapping or a part of one. Takes about 0.1 s per GiB, during which every other call
     * that changes the address space of this process blocks; so a large mapping is unmapped in
     * parts, the first page in the last of them.
     *
     * @param address what {@link #map} or {@link #mapPrivate} returned, or a page within
     * @param sizeBytes the size given there, or that of the part
     */
    public static void unmap(long address, long sizeBytes) {
        RestrictedThreads.requireAllowed("munmap");
        Origins.unmaps(address);
        CallState state = CallState.current();
        int result;
        try {
            result = (int) MUNMAP.invokeExact(state.errno, address, sizeBytes);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result != 0) {
            throw failure("munmap", state.lastErrno(), address, sizeBytes);
        }
    }

    /**
     * Populates every page of a range, so that no later access faults. Contents do not change, even
     * if another process writes at the same time. The first population takes about 2 s per GiB, so
     * this is for the setup.
     *
     * @param address the beginning, page-aligned
     * @param sizeBytes the length; the file must reach that far and be sealed against shrinking
     * @param write whether pages are populated for writing (of a writable mapping) or for reading
     * @throws LinuxException EINVAL if the mapping does not permit that; ENOMEM if part of the
     *     range is not mapped or there is no memory
     */
    public static void populate(long address, long sizeBytes, boolean write) {
        RestrictedThreads.requireAllowed("madvise");
        CallState state = CallState.current();
        int advice = write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
        int result;
        do {
            result = madvise(state, address, sizeBytes, advice);
        } while (result != 0 && state.lastErrno() == Errno.EINTR);
        if (result == 0) {
            return;
        }
        int errno = state.lastErrno();
        // EINVAL has two meanings. Advice on an empty range succeeds if the kernel knows the advice
        // (5.14 and later); then this range is at fault, and touching it would crash the JVM.
        if (errno != Errno.EINVAL || madvise(state, 0, 0, advice) == 0) {
            throw failure("madvise", errno, address, sizeBytes);
        }
        touch(address, sizeBytes, write);
    }

    private static int madvise(CallState state, long address, long sizeBytes, int advice) {
        try {
            return (int) MADVISE.invokeExact(state.errno, address, sizeBytes, advice);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /** Populates on an old kernel, by one access per page. */
    @SuppressWarnings("restricted") // addresses come from a mapping of this class
    static void touch(long address, long sizeBytes, boolean write) {
        MemorySegment range = MemorySegment.ofAddress(address).reinterpret(sizeBytes);
        for (long offset = 0; offset < sizeBytes; offset += PAGE_SIZE_BYTES) {
            // Volatile, or the compiler may drop it; adding nothing, since a peer may write here.
            if (write) {
                int _ = (int) WORD.getAndBitwiseOr(range, offset, 0);
            } else {
                int _ = (int) WORD.getVolatile(range, offset);
            }
        }
    }

    /**
     * Creates a segment of mapped memory. It unmaps nothing: the caller must close the arena before
     * {@link #unmap}.
     *
     * @param address the beginning
     * @param sizeBytes the length
     * @param arena lifetime and threads of the segment
     * @return a segment of that range
     */
    @SuppressWarnings("restricted") // addresses come from a mapping of this class
    public static MemorySegment segment(long address, long sizeBytes, Arena arena) {
        return MemorySegment.ofAddress(address).reinterpret(sizeBytes, arena, null);
    }

    /**
     * The size of an ordinary page.
     *
     * @return bytes, a power of two
     */
    public static long pageSize() {
        return PAGE_SIZE_BYTES;
    }

    private static int protection(boolean writable) {
        return writable ? PROT_READ | PROT_WRITE : PROT_READ;
    }

    private static LinuxException failure(String call, int errno, long address, long sizeBytes) {
        return new LinuxException(
                call, errno, "address=0x" + Long.toHexString(address) + ", sizeBytes=" + sizeBytes);
    }

    private static long askPageSize() {
        MethodHandle sysconf = Libc.bindPlain("sysconf", FunctionDescriptor.of(LONG, INT));
        try {
            return (long) sysconf.invokeExact(SC_PAGESIZE);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }
}
