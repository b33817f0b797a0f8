package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.LONG;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * Calls that open, close and query descriptors of any kind, and the advisory locks of flock. Any
 * thread.
 */
public final class FileDescriptors {
    /** Open for reading only. */
    public static final int O_RDONLY = 0;

    /** Open for writing only. */
    public static final int O_WRONLY = 1;

    /** Open for reading and writing. */
    public static final int O_RDWR = 2;

    /** Create the file if it does not exist. */
    public static final int O_CREAT = 0x40;

    /** With {@link #O_CREAT}: fail with EEXIST if it exists. */
    public static final int O_EXCL = 0x80;

    /** Do not make an opened terminal the controlling terminal. */
    public static final int O_NOCTTY = 0x100;

    /** Truncate the file to length 0. */
    public static final int O_TRUNC = 0x200;

    /** Do not block; in a descriptor's flags: calls return EAGAIN instead. */
    public static final int O_NONBLOCK = 0x800;

    /** Bypass the page cache; addresses, sizes and offsets must be aligned to blocks. */
    public static final int O_DIRECT = Abi.CURRENT.directIo;

    /** Fail with ENOTDIR unless it is a directory. */
    public static final int O_DIRECTORY = Abi.CURRENT.directory;

    /** Fail with ELOOP if the last part of the path is a symbolic link. */
    public static final int O_NOFOLLOW = Abi.CURRENT.noFollow;

    /** Open only the location in the file system: for {@link #openAt}, not for reading. */
    public static final int O_PATH = 0x20_0000;

    /** {@link #fileSystemType} of tmpfs, and so of a memfd on ordinary pages. */
    public static final long TMPFS_MAGIC = 0x0102_1994L;

    private static final int O_CLOEXEC = 0x8_0000;
    private static final int AT_EMPTY_PATH = 0x1000;
    private static final int STATX_BASIC_STATS = 0x7ff;
    private static final int STATX_DIOALIGN = 0x2000;

    /** Unit of stx_blocks, whatever the file system's own is. */
    private static final long BLOCK_BYTES = 512;

    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int F_DUPFD_CLOEXEC = 1030;
    private static final int LOCK_SH = 1;
    private static final int LOCK_EX = 2;
    private static final int LOCK_NB = 4;

    private static final MethodHandle CLOSE = Libc.bind("close", INT, INT);
    private static final MethodHandle OPEN = Libc.bindVariadic("open", 2, INT, POINTER, INT, INT);
    private static final MethodHandle OPENAT =
            Libc.bindVariadic("openat", 3, INT, INT, POINTER, INT, INT);
    private static final MethodHandle FCNTL = Libc.bindVariadic("fcntl", 2, INT, INT, INT, LONG);
    private static final MethodHandle STATX =
            Libc.bind("statx", INT, INT, POINTER, INT, INT, POINTER);
    private static final MethodHandle FSTATFS = Libc.bind("fstatfs", INT, INT, POINTER);
    private static final MethodHandle FTRUNCATE = Libc.bind("ftruncate", INT, INT, LONG);
    private static final MethodHandle FLOCK = Libc.bind("flock", INT, INT, INT);

    private static final MemorySegment EMPTY_PATH = Arena.global().allocateFrom("");

    private FileDescriptors() {}

    /**
     * Closes a descriptor. It is free when this returns or throws anything but EBADF: Linux
     * releases it before the close can fail, so a close is never repeated.
     *
     * @param fd the descriptor
     * @throws LinuxException EBADF if it was not open, a bug of the caller: the number may have
     *     been reused by another thread
     */
    public static void close(int fd) {
        RestrictedThreads.closes(fd);
        Origins.descriptorCloses(fd);
        CallState state = CallState.current();
        int result;
        try {
            result = (int) CLOSE.invokeExact(state.errno, fd);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result != 0 && state.lastErrno() != Errno.EINTR) {
            throw new LinuxException("close", state.lastErrno(), "fd=" + fd);
        }
    }

    /**
     * Duplicates a descriptor: both are of the same open file, and each is closed on its own.
     *
     * @param fd the descriptor
     * @return close-on-exec, the caller's to close
     */
    public static int duplicate(int fd) {
        CallState state = CallState.current();
        int result = fcntl(state, fd, F_DUPFD_CLOEXEC, 0);
        if (result < 0) {
            throw new LinuxException("fcntl(F_DUPFD_CLOEXEC)", state.lastErrno(), "fd=" + fd);
        }
        Origins.descriptorOpened(result);
        return result;
    }

    /**
     * Makes calls wait that {@link #O_NONBLOCK} keeps from waiting. Requests of io_uring to a file
     * that was opened with that flag may fail with EAGAIN.
     *
     * @param fd a descriptor of the open file
     */
    public static void setBlocking(int fd) {
        CallState state = CallState.current();
        int flags = fcntl(state, fd, F_GETFL, 0);
        if (flags < 0) {
            throw new LinuxException("fcntl(F_GETFL)", state.lastErrno(), "fd=" + fd);
        }
        if (fcntl(state, fd, F_SETFL, flags & ~O_NONBLOCK) < 0) {
            throw new LinuxException("fcntl(F_SETFL)", state.lastErrno(), "fd=" + fd);
        }
    }

    /**
     * Status of an open file. By statx, which unlike fstat has one layout on all architectures.
     *
     * @param fd the descriptor, of any kind
     * @return type, size, owner and identity
     */
    public static FileStatus status(int fd) {
        MemorySegment read = statx(fd, STATX_BASIC_STATS);
        long major = Integer.toUnsignedLong(read.get(INT, Abi.Statx.DEVICE_MAJOR));
        long minor = Integer.toUnsignedLong(read.get(INT, Abi.Statx.DEVICE_MINOR));
        return new FileStatus(
                Short.toUnsignedInt(read.get(ValueLayout.JAVA_SHORT, Abi.Statx.MODE)),
                read.get(LONG, Abi.Statx.SIZE),
                read.get(LONG, Abi.Statx.BLOCKS) * BLOCK_BYTES,
                read.get(INT, Abi.Statx.UID),
                major << 32 | minor,
                read.get(LONG, Abi.Statx.INODE));
    }

    /**
     * Alignment of direct I/O, which {@link #O_DIRECT} opens for.
     *
     * @param memoryBytes alignment of addresses in memory; 0 if the file has no direct I/O
     * @param offsetBytes alignment of offsets and sizes in the file; 0 likewise
     */
    public record DirectAlignment(int memoryBytes, int offsetBytes) {
        /** Whether the file has direct I/O. */
        public boolean isOffered() {
            return memoryBytes != 0 && offsetBytes != 0;
        }
    }

    /**
     * Alignment of direct I/O with a file, which need not be open for that.
     *
     * @param fd the descriptor of a regular file or block device
     * @return empty where the file system does not say, such as tmpfs, or the kernel is older than
     *     6.1
     */
    public static Optional<DirectAlignment> directAlignment(int fd) {
        MemorySegment read = statx(fd, STATX_DIOALIGN);
        if ((read.get(INT, Abi.Statx.MASK) & STATX_DIOALIGN) == 0) {
            return Optional.empty();
        }
        return Optional.of(
                new DirectAlignment(
                        read.get(INT, Abi.Statx.DIRECT_MEMORY_ALIGNMENT),
                        read.get(INT, Abi.Statx.DIRECT_OFFSET_ALIGNMENT)));
    }

    /** The struct statx of an open file, valid until the next call of this thread. */
    private static MemorySegment statx(int fd, int mask) {
        CallState state = CallState.current();
        int result;
        try {
            result =
                    (int)
                            STATX.invokeExact(
                                    state.errno,
                                    fd,
                                    EMPTY_PATH.address(),
                                    AT_EMPTY_PATH,
                                    mask,
                                    state.scratchAddress);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result != 0) {
            throw new LinuxException("statx", state.lastErrno(), "fd=" + fd);
        }
        return state.scratch;
    }

    /**
     * File system of an open file.
     *
     * @param fd the descriptor
     * @return the file system's magic number, such as {@link #TMPFS_MAGIC}
     */
    public static long fileSystemType(int fd) {
        CallState state = CallState.current();
        int result;
        try {
            result = (int) FSTATFS.invokeExact(state.errno, fd, state.scratchAddress);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result != 0) {
            throw new LinuxException("fstatfs", state.lastErrno(), "fd=" + fd);
        }
        return state.scratch.get(LONG, Abi.Statfs.TYPE);
    }

    /**
     * Opens a file, close-on-exec.
     *
     * @param path the path, passed as UTF-8
     * @param flags an access mode and further constants {@code O_...} of this class
     * @param mode permission bits for a file that is created, less the umask; else ignored
     * @return the descriptor, the caller's to close
     */
    public static int open(String path, int flags, int mode) {
        CallState state = CallState.current();
        try (Arena arena = Arena.ofConfined()) {
            long pathAddress = arena.allocateFrom(path).address();
            int result;
            do {
                result = (int) OPEN.invokeExact(state.errno, pathAddress, flags | O_CLOEXEC, mode);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
            if (result < 0) {
                throw new LinuxException("open", state.lastErrno(), "path=" + path);
            }
            Origins.descriptorOpened(result);
            return result;
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /**
     * Opens the file of a descriptor once more, whatever its name leads to now, and whether it has
     * one: an open file of its own, with locks and reports of lost data of its own.
     *
     * @param flags an access mode, and {@link #O_DIRECT} as needed
     * @return the descriptor, the caller's to close
     * @throws LinuxException EINVAL if its file system has no direct I/O; EACCES, EROFS
     */
    public static int reopen(int fd, int flags) {
        return open("/proc/self/fd/" + fd, flags, 0);
    }

    /**
     * Opens a file relative to an open directory, close-on-exec.
     *
     * @param directoryFd the directory
     * @param path a path relative to it, passed as UTF-8
     * @param flags as in {@link #open}
     * @param mode as in {@link #open}
     * @return the descriptor, the caller's to close
     */
    public static int openAt(int directoryFd, String path, int flags, int mode) {
        CallState state = CallState.current();
        try (Arena arena = Arena.ofConfined()) {
            long pathAddress = arena.allocateFrom(path).address();
            int result;
            do {
                result =
                        (int)
                                OPENAT.invokeExact(
                                        state.errno,
                                        directoryFd,
                                        pathAddress,
                                        flags | O_CLOEXEC,
                                        mode);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
            if (result < 0) {
                throw new LinuxException(
                        "openat",
                        state.lastErrno(),
                        "directoryFd=" + directoryFd + ", path=" + path);
            }
            Origins.descriptorOpened(result);
            return result;
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /**
     * Sets a file's length; new bytes read as zeros and have no blocks yet.
     *
     * @param fd a descriptor open for writing
     * @param sizeBytes the new length
     */
    public static void truncate(int fd, long sizeBytes) {
        RestrictedThreads.requireAllowed("ftruncate");
        CallState state = CallState.current();
        int result;
        try {
            do {
                result = (int) FTRUNCATE.invokeExact(state.errno, fd, sizeBytes);
            } while (result != 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result != 0) {
            throw new LinuxException(
                    "ftruncate", state.lastErrno(), "fd=" + fd + ", sizeBytes=" + sizeBytes);
        }
    }

    /**
     * Locks an open file exclusively, if that is possible at once. The lock belongs to the open
     * file, not to the process or thread: it ends with the last descriptor of that open file, also
     * when its holder is killed. A shared lock is converted, and may be lost in a failed attempt.
     *
     * @param fd the descriptor
     * @return false if another open file of the same file holds a lock
     */
    public static boolean tryLockExclusive(int fd) {
        return tryLock(fd, LOCK_EX);
    }

    /**
     * Locks an open file shared; otherwise as {@link #tryLockExclusive}.
     *
     * @param fd the descriptor
     * @return false if another open file of the same file holds it exclusively
     */
    public static boolean tryLockShared(int fd) {
        return tryLock(fd, LOCK_SH);
    }

    /**
     * Locks an open file shared, and waits as long as another open file holds it exclusively: for a
     * daemon thread that waits for the end of a process. Closing the descriptor does not end the
     * wait.
     *
     * @param fd the descriptor
     */
    public static void lockShared(int fd) {
        CallState state = CallState.current();
        if (flock(state, fd, LOCK_SH) != 0) {
            throw notLocked(state, fd, LOCK_SH);
        }
    }

    private static boolean tryLock(int fd, int operation) {
        CallState state = CallState.current();
        if (flock(state, fd, operation | LOCK_NB) == 0) {
            return true;
        }
        if (state.lastErrno() == Errno.EAGAIN) {
            return false;
        }
        throw notLocked(state, fd, operation);
    }

    private static LinuxException notLocked(CallState state, int fd, int operation) {
        String call = operation == LOCK_EX ? "flock(LOCK_EX)" : "flock(LOCK_SH)";
        return new LinuxException(call, state.lastErrno(), "fd=" + fd);
    }

    private static int flock(CallState state, int fd, int operation) {
        try {
            int result;
            do {
                result = (int) FLOCK.invokeExact(state.errno, fd, operation);
            } while (result != 0 && state.lastErrno() == Errno.EINTR);
            return result;
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /**
     * Calls fcntl, for commands with an integer argument or none; also used for the seals of a
     * memfd.
     */
    static int fcntl(CallState state, int fd, int command, long argument) {
        try {
            return (int) FCNTL.invokeExact(state.errno, fd, command, argument);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }
}
