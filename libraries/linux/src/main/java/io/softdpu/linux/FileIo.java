package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.LONG;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Reads and writes files at an offset, between the file and native memory (pread, pwrite). The file
 * position is not used, so any thread may call. Allocates nothing once the caller is compiled by
 * C2.
 *
 * <p>Like the system calls, a method may transfer less than requested; the caller continues from
 * there.
 */
public final class FileIo {
    private static final MethodHandle PREAD =
            Libc.bind("pread", LONG, INT, ValueLayout.ADDRESS, LONG, LONG);
    private static final MethodHandle PWRITE =
            Libc.bind("pwrite", LONG, INT, ValueLayout.ADDRESS, LONG, LONG);

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
