package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.LONG;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/**
 * Locks of byte ranges that belong to an open file (open file description locks, F_OFD_SETLK). Any
 * thread.
 *
 * <p>A lock excludes other open files of the same file, in this process and others; the range need
 * not exist. It ends with the last descriptor of its open file, also when its process is killed,
 * but not before requests of io_uring to that open file have left the kernel. Unlike a lock of
 * {@link java.nio.channels.FileChannel}, it does not end where another descriptor of the file is
 * closed. Those of flock ({@link FileDescriptors#tryLockExclusive}) are others, and exclude none of
 * these.
 */
public final class OpenFileLocks {
    private static final int F_OFD_GETLK = 36;
    private static final int F_OFD_SETLK = 37;
    private static final short F_RDLCK = 0;
    private static final short F_WRLCK = 1;
    private static final short F_UNLCK = 2;

    private OpenFileLocks() {}

    /**
     * Lock of another open file.
     *
     * @param exclusive else shared
     * @param offsetBytes where its range begins
     * @param sizeBytes its length; 0 if it has no end
     * @param pid the process of a lock that a process holds as {@code FileChannel} does; -1 for one
     *     that an open file holds, which the kernel attributes to none
     */
    public record Conflict(boolean exclusive, long offsetBytes, long sizeBytes, int pid) {}

    /**
     * Locks a range exclusively, if that is possible at once. What this open file has locked of it
     * is converted.
     *
     * @param fd a descriptor open for writing
     * @param offsetBytes where the range begins
     * @param sizeBytes its length; 0 for all behind the begin
     * @return false if another open file holds a lock on a part of it
     */
    public static boolean tryLockExclusive(int fd, long offsetBytes, long sizeBytes) {
        return trySet(fd, F_WRLCK, offsetBytes, sizeBytes);
    }

    /**
     * Locks a range shared; otherwise as {@link #tryLockExclusive}.
     *
     * @param fd a descriptor open for reading
     * @return false if another open file holds a part of it exclusively
     */
    public static boolean tryLockShared(int fd, long offsetBytes, long sizeBytes) {
        return trySet(fd, F_RDLCK, offsetBytes, sizeBytes);
    }

    /**
     * Ends what this open file has locked of a range.
     *
     * @param fd any descriptor of the open file
     * @param offsetBytes where the range begins
     * @param sizeBytes its length; 0 for all behind the begin
     */
    public static void unlock(int fd, long offsetBytes, long sizeBytes) {
        trySet(fd, F_UNLCK, offsetBytes, sizeBytes);
    }

    /**
     * Finds a lock of another open file that a lock would conflict with now. Locks nothing.
     *
     * @param fd the descriptor
     * @param exclusive whether the lock would be exclusive, else shared
     * @param offsetBytes where its range would begin
     * @param sizeBytes its length; 0 for all behind the begin
     * @return one of the conflicts, or none
     */
    public static Optional<Conflict> conflict(
            int fd, boolean exclusive, long offsetBytes, long sizeBytes) {
        CallState state = CallState.current();
        short type = exclusive ? F_WRLCK : F_RDLCK;
        int errno = call(state, F_OFD_GETLK, fd, type, offsetBytes, sizeBytes);
        if (errno != 0) {
            throw failure("fcntl(F_OFD_GETLK)", errno, fd, offsetBytes, sizeBytes);
        }
        MemorySegment found = state.scratch;
        short held = found.get(ValueLayout.JAVA_SHORT, Abi.Flock.TYPE);
        if (held == F_UNLCK) {
            return Optional.empty();
        }
        return Optional.of(
                new Conflict(
                        held == F_WRLCK,
                        found.get(LONG, Abi.Flock.START),
                        found.get(LONG, Abi.Flock.LENGTH),
                        found.get(INT, Abi.Flock.PID)));
    }

    private static boolean trySet(int fd, short type, long offsetBytes, long sizeBytes) {
        int errno = call(CallState.current(), F_OFD_SETLK, fd, type, offsetBytes, sizeBytes);
        if (errno == 0) {
            return true;
        }
        if (errno == Errno.EAGAIN || errno == Errno.EACCES) {
            return false;
        }
        throw failure("fcntl(F_OFD_SETLK)", errno, fd, offsetBytes, sizeBytes);
    }

    /** Calls fcntl with a struct flock in scratch; the error number, or 0. */
    private static int call(
            CallState state, int command, int fd, short type, long offsetBytes, long sizeBytes) {
        MemorySegment lock = state.scratch.asSlice(0, Abi.Flock.BYTES).fill((byte) 0);
        lock.set(ValueLayout.JAVA_SHORT, Abi.Flock.TYPE, type);
        lock.set(LONG, Abi.Flock.START, offsetBytes);
        lock.set(LONG, Abi.Flock.LENGTH, sizeBytes);
        int result = FileDescriptors.fcntl(state, fd, command, state.scratchAddress);
        return result < 0 ? state.lastErrno() : 0;
    }

    private static LinuxException failure(
            String call, int errno, int fd, long offsetBytes, long sizeBytes) {
        return new LinuxException(
                call,
                errno,
                "fd=" + fd + ", offsetBytes=" + offsetBytes + ", sizeBytes=" + sizeBytes);
    }
}
