package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.LONG;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Reads and writes files at an offset, between the file and native memory (pread, pwrite,
 * pwritev2), makes what was written durable (fdatasync, fsync), and asks whether it was lost
 * (sync_file_range). The file position is not used, so any thread may call. Allocates nothing once
 * the caller is compiled by C2.
 *
 * <p>Like the system calls, a method may transfer less than requested; the caller continues from
 * there.
 */
public final class FileIo {
    private static final MethodHandle PREAD =
            Libc.bind("pread", LONG, INT, ValueLayout.ADDRESS, LONG, LONG);
    private static final MethodHandle PWRITE =
            Libc.bind("pwrite", LONG, INT, ValueLayout.ADDRESS, LONG, LONG);

    /**
     * The written memory is a further argument, which the function ignores, so that it cannot be
     * freed during the call: its address is in a structure.
     */
    private static final MethodHandle PWRITEV2 =
            Libc.bind("pwritev2", LONG, INT, POINTER, INT, LONG, INT, ValueLayout.ADDRESS);

    private static final MethodHandle FDATASYNC = Libc.bind("fdatasync", INT, INT);
    private static final MethodHandle FSYNC = Libc.bind("fsync", INT, INT);
    private static final MethodHandle SYNC_FILE_RANGE =
            Libc.bind("sync_file_range", INT, INT, LONG, LONG, INT);

    /** Flag of a write: the bytes written are durable afterwards. */
    static final int RWF_DSYNC = 2;

    private static final int SYNC_FILE_RANGE_WAIT_BEFORE = 1;

    /** Where no file has bytes to wait for. */
    private static final long BEYOND_ALL_BYTES = 1L << 62;

    private FileIo() {}

    /**
     * Reads into memory that cannot be freed while the call lasts.
     *
     * @param fd a descriptor open for reading
     * @param into native memory; its size is requested
     * @param offsetBytes where in the file
     * @return number of bytes read; 0 at the file's end or beyond
     */
    public static long read(int fd, MemorySegment into, long offsetBytes) {
        CallState state = CallState.current();
        long sizeBytes = into.byteSize();
        long result;
        try {
            do {
                result = (long) PREAD.invokeExact(state.errno, fd, into, sizeBytes, offsetBytes);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        return checked("pread", result, state, fd, sizeBytes, offsetBytes);
    }

    /**
     * Writes memory that cannot be freed while the call lasts; beyond the file's end it grows.
     *
     * @param fd a descriptor open for writing
     * @param from native memory; its size is requested
     * @param offsetBytes where in the file
     * @return number of bytes written
     */
    public static long write(int fd, MemorySegment from, long offsetBytes) {
        CallState state = CallState.current();
        long sizeBytes = from.byteSize();
        long result;
        try {
            do {
                result = (long) PWRITE.invokeExact(state.errno, fd, from, sizeBytes, offsetBytes);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        return checked("pwrite", result, state, fd, sizeBytes, offsetBytes);
    }

    /**
     * As {@link #write}, and the bytes written are durable when this returns (RWF_DSYNC): these
     * alone, not those of earlier writes.
     */
    public static long writeDurably(int fd, MemorySegment from, long offsetBytes) {
        CallState state = CallState.current();
        long sizeBytes = from.byteSize();
        long result;
        try {
            state.scratch.set(LONG, Abi.IoVec.BASE, from.address());
            state.scratch.set(LONG, Abi.IoVec.LENGTH, sizeBytes);
            do {
                result =
                        (long)
                                PWRITEV2.invokeExact(
                                        state.errno,
                                        fd,
                                        state.scratchAddress,
                                        1,
                                        offsetBytes,
                                        RWF_DSYNC,
                                        from);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        return checked("pwritev2", result, state, fd, sizeBytes, offsetBytes);
    }

    /**
     * Makes all bytes durable that were written to a file, and of its metadata what is needed to
     * read them.
     *
     * @param fd the descriptor
     * @throws LinuxException EIO or ENOSPC if bytes were lost: the kernel says so once per open
     *     file, so a later success does not mean that they are there
     */
    public static void syncData(int fd) {
        CallState state = CallState.current();
        int result;
        try {
            do {
                result = (int) FDATASYNC.invokeExact(state.errno, fd);
            } while (result != 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result != 0) {
            throw new LinuxException("fdatasync", state.lastErrno(), "fd=" + fd);
        }
    }

    /**
     * Takes the report of lost bytes that the next {@link #syncData} of this open file would give,
     * and that is not given again then. Writes nothing and waits for nothing.
     *
     * @param fd the descriptor
     * @return 0 without one; else its error number, or that of the call if it is refused
     */
    public static int takeLossReport(int fd) {
        CallState state = CallState.current();
        try {
            int result =
                    (int)
                            SYNC_FILE_RANGE.invokeExact(
                                    state.errno,
                                    fd,
                                    BEYOND_ALL_BYTES,
                                    1L,
                                    SYNC_FILE_RANGE_WAIT_BEFORE);
            return result == 0 ? 0 : state.lastErrno();
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /**
     * As {@link #syncData}, with all metadata; of a directory, its names.
     *
     * @param fd the descriptor
     * @throws LinuxException as there
     */
    public static void sync(int fd) {
        CallState state = CallState.current();
        int result;
        try {
            do {
                result = (int) FSYNC.invokeExact(state.errno, fd);
            } while (result != 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result != 0) {
            throw new LinuxException("fsync", state.lastErrno(), "fd=" + fd);
        }
    }

    private static long checked(
            String call, long result, CallState state, int fd, long sizeBytes, long offsetBytes) {
        if (result < 0) {
            throw new LinuxException(
                    call,
                    state.lastErrno(),
                    "fd=" + fd + ", sizeBytes=" + sizeBytes + ", offsetBytes=" + offsetBytes);
        }
        return result;
    }
}
