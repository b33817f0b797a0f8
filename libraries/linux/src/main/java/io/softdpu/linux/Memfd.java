package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.LONG;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/**
 * Memfds: anonymous files in memory, their blocks and their seals. Any thread.
 *
 * <p>A seal cannot be removed, by any descriptor of the file. So a process can trust memory that
 * another one has created: with {@link #SEAL_SHRINK} no process can truncate the file under a
 * mapping, which would end its user with SIGBUS.
 */
public final class Memfd {
    /** No further seals. */
    public static final int SEAL_SEAL = 1;

    /** The file cannot become shorter. */
    public static final int SEAL_SHRINK = 2;

    /** The file cannot become longer. */
    public static final int SEAL_GROW = 4;

    /** Contents cannot change; refused with EBUSY while a writable mapping exists. */
    public static final int SEAL_WRITE = 8;

    /** No new writable mapping and no write; mappings that are writable already still write. */
    public static final int SEAL_FUTURE_WRITE = 16;

    /**
     * The file cannot be made executable; set on every memfd created here if the kernel supports
     * it.
     */
    public static final int SEAL_EXEC = 32;

    private static final int MFD_CLOEXEC = 1;
    private static final int MFD_ALLOW_SEALING = 2;
    private static final int MFD_NOEXEC_SEAL = 8;
    private static final int F_ADD_SEALS = 1033;
    private static final int F_GET_SEALS = 1034;
    private static final int SC_PHYS_PAGES = 85;

    private static final MethodHandle MEMFD_CREATE = Libc.bind("memfd_create", INT, POINTER, INT);
    private static final MethodHandle SYSCONF =
            Libc.bindPlain("sysconf", FunctionDescriptor.of(LONG, INT));

    private Memfd() {}

    /**
     * Creates an empty file in memory: close-on-exec, may be sealed, never executable.
     *
     * @param name a name for /proc, at most 249 bytes; it need not be unique
     * @return the descriptor, the caller's to close; the memory lives as long as any descriptor or
     *     mapping of it, in whatever process
     */
    public static int create(String name) {
        CallState state = CallState.current();
        try (Arena arena = Arena.ofConfined()) {
            long nameAddress = arena.allocateFrom(name).address();
            int common = MFD_CLOEXEC | MFD_ALLOW_SEALING;
            int result =
                    (int)
                            MEMFD_CREATE.invokeExact(
                                    state.errno, nameAddress, common | MFD_NOEXEC_SEAL);
            if (result < 0 && state.lastErrno() == Errno.EINVAL) {
                // Kernels before 6.3 do not know MFD_NOEXEC_SEAL.
                result = (int) MEMFD_CREATE.invokeExact(state.errno, nameAddress, common);
            }
            if (result < 0) {
                throw new LinuxException("memfd_create", state.lastErrno(), "name=" + name);
            }
            Origins.descriptorOpened(result);
            return result;
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /**
     * Sets a file's length and allocates all of its blocks, filled with zeros, so that no later
     * access can fail for lack of memory.
     *
     * <p>The file system of memfds has no limit: the kernel would not refuse a request beyond the
     * machine's memory, but kill processes. Such a request fails here with ENOMEM before any block
     * is allocated.
     *
     * @param fd an unsealed file open for writing
     * @param sizeBytes its length, above 0
     * @throws LinuxException ENOMEM or ENOSPC if there is no memory; the file then has the length
     *     but not the blocks, and is to be closed
     */
    public static void allocate(int fd, long sizeBytes) {
        allocate(fd, 0, sizeBytes);
    }

    /**
     * As {@link #allocate(int, long)}, for a file whose first blocks are there already.
     *
     * @param fromBytes offset of the first block to allocate
     * @param sizeBytes its length afterwards, above the offset
     */
    public static void allocate(int fd, long fromBytes, long sizeBytes) {
        if (sizeBytes <= fromBytes) {
            throw new IllegalArgumentException(
                    "size must be above " + fromBytes + ": sizeBytes=" + sizeBytes);
        }
        if (sizeBytes > physicalMemoryBytes()) {
            throw new LinuxException(
                    "fallocate",
                    Errno.ENOMEM,
                    "fd="
                            + fd
                            + ", sizeBytes="
                            + sizeBytes
                            + ", physicalMemoryBytes="
                            + physicalMemoryBytes());
        }
        FileDescriptors.truncate(fd, sizeBytes);
        FileBlocks.allocate(fd, 0, fromBytes, sizeBytes - fromBytes);
    }

    /**
     * Adds seals, which cannot be removed.
     *
     * @param fd a descriptor open for writing
     * @param seals constants {@code SEAL_...} of this class, or-ed
     * @throws LinuxException EPERM with {@link #SEAL_SEAL} in place; EBUSY for {@link #SEAL_WRITE}
     *     under a writable mapping; EINVAL if the file has no seals
     */
    public static void addSeals(int fd, int seals) {
        CallState state = CallState.current();
        if (FileDescriptors.fcntl(state, fd, F_ADD_SEALS, seals) < 0) {
            throw new LinuxException(
                    "fcntl(F_ADD_SEALS)", state.lastErrno(), "fd=" + fd + ", seals=" + seals);
        }
    }

    /**
     * The seals of a file. Never blocks, whatever kind the descriptor is, so this is the first
     * check of one that a peer has sent.
     *
     * @param fd the descriptor
     * @return the seals; bits beyond those added may be set, such as {@link #SEAL_EXEC}
     * @throws LinuxException EINVAL if the file has no seals: it is not memory
     */
    public static int seals(int fd) {
        CallState state = CallState.current();
        int result = FileDescriptors.fcntl(state, fd, F_GET_SEALS, 0);
        if (result < 0) {
            throw new LinuxException("fcntl(F_GET_SEALS)", state.lastErrno(), "fd=" + fd);
        }
        return result;
    }

    private static long physicalMemoryBytes() {
        try {
            long pages = (long) SYSCONF.invokeExact(SC_PHYS_PAGES);
            return Math.multiplyExact(pages, MemoryMapping.pageSize());
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }
}
