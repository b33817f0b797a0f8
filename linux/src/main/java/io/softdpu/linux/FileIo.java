package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.LONG;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Reading and writing files at an offset, straight between the file and memory at bare addresses or
 * in segments. The file's own position plays no part, so any thread may call. Allocates nothing.
 *
 * <p>Like the calls themselves, a method may move less than it was asked for; the caller goes on
 * from there.
 */
public final class FileIo {
    private static final MethodHandle PREAD = Libc.bind("pread", LONG, INT, POINTER, LONG, LONG);
    private static final MethodHandle PWRITE = Libc.bind("pwrite", LONG, INT, POINTER, LONG, LONG);
    private static final MethodHandle READ_SEGMENT =
            Libc.bind("pread", LONG, INT, ValueLayout.ADDRESS, LONG, LONG);
    private static final MethodHandle WRITE_SEGMENT =
            Libc.bind("pwrite", LONG, INT, ValueLayout.ADDRESS, LONG, LONG);
    private static final MethodHandle PREADV =
            Libc.bind("preadv", LONG, INT, ValueLayout.ADDRESS, INT, LONG);
    private static final MethodHandle PWRITEV =
            Libc.bind("pwritev", LONG, INT, ValueLayout.ADDRESS, INT, LONG);

    private FileIo() {}

    /**
     * Reads.
     *
     * @param fd a descriptor open for reading
     * @param address where the bytes go; not checked
     * @param sizeBytes how many at most
     * @param offsetBytes where in the file
     * @return how many were read; 0 at the file's end or beyond
     */
    public static long pread(int fd, long address, long sizeBytes, long offsetBytes) {
        CallState state = CallState.current();
        long result;
        try {
            do {
                result = (long) PREAD.invokeExact(state.errno, fd, address, sizeBytes, offsetBytes);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        return checked("pread", result, state, fd, sizeBytes, offsetBytes);
    }

    /**
     * Writes; beyond the file's end it grows.
     *
     * @param fd a descriptor open for writing
     * @param address where the bytes are; not checked
     * @param sizeBytes how many at most
     * @param offsetBytes where in the file
     * @return how many were written
     */
    public static long pwrite(int fd, long address, long sizeBytes, long offsetBytes) {
        CallState state = CallState.current();
        long result;
        try {
            do {
                result =
                        (long) PWRITE.invokeExact(state.errno, fd, address, sizeBytes, offsetBytes);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        return checked("pwrite", result, state, fd, sizeBytes, offsetBytes);
    }

    /**
     * Reads into memory that cannot be freed while the call lasts.
     *
     * @param fd a descriptor open for reading
     * @param into native memory; all of it is asked for
     * @param offsetBytes where in the file
     * @return how many were read; 0 at the file's end or beyond
     */
    public static long read(int fd, MemorySegment into, long offsetBytes) {
        CallState state = CallState.current();
        long sizeBytes = into.byteSize();
        long result;
        try {
            do {
                result =
                        (long)
                                READ_SEGMENT.invokeExact(
                                        state.errno, fd, into, sizeBytes, offsetBytes);
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
     * @param from native memory; all of it is offered
     * @param offsetBytes where in the file
     * @return how many were written
     */
    public static long write(int fd, MemorySegment from, long offsetBytes) {
        CallState state = CallState.current();
        long sizeBytes = from.byteSize();
        long result;
        try {
            do {
                result =
                        (long)
                                WRITE_SEGMENT.invokeExact(
                                        state.errno, fd, from, sizeBytes, offsetBytes);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        return checked("pwrite", result, state, fd, sizeBytes, offsetBytes);
    }

    /**
     * Reads into several ranges, one after the other.
     *
     * @param fd a descriptor open for reading
     * @param vector where the bytes go
     * @param offsetBytes where in the file
     * @return how many were read; 0 at the file's end or beyond
     */
    public static long preadv(int fd, IoVector vector, long offsetBytes) {
        CallState state = CallState.current();
        long result;
        try {
            do {
                result =
                        (long)
                                PREADV.invokeExact(
                                        state.errno,
                                        fd,
                                        vector.ranges(),
                                        vector.count(),
                                        offsetBytes);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        return checked("preadv", result, state, fd, vector.totalBytes(), offsetBytes);
    }

    /**
     * Writes several ranges, one after the other; beyond the file's end it grows.
     *
     * @param fd a descriptor open for writing
     * @param vector where the bytes are
     * @param offsetBytes where in the file
     * @return how many were written
     */
    public static long pwritev(int fd, IoVector vector, long offsetBytes) {
        CallState state = CallState.current();
        long result;
        try {
            do {
                result =
                        (long)
                                PWRITEV.invokeExact(
                                        state.errno,
                                        fd,
                                        vector.ranges(),
                                        vector.count(),
                                        offsetBytes);
            } while (result < 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        return checked("pwritev", result, state, fd, vector.totalBytes(), offsetBytes);
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
