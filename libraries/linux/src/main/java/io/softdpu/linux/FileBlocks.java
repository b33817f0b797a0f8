package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.LONG;

import java.lang.invoke.MethodHandle;

/**
 * Blocks of a file: allocation, zeros and holes (fallocate), and where there is data (lseek). Any
 * thread; what finds data changes the position of the open file, which nothing here uses.
 *
 * <p>A file system that lacks an operation answers EOPNOTSUPP. A range beyond the end of the file,
 * with {@link #KEEP_SIZE}, changes nothing that can be read, so it shows whether there is the
 * operation.
 */
public final class FileBlocks {
    /** Allocates beyond the end without making the file longer. */
    public static final int KEEP_SIZE = 1;

    /** Gives blocks back, and zeros are read there; only with {@link #KEEP_SIZE}. */
    public static final int PUNCH_HOLE = 2;

    /** Makes zeros of a range whose blocks stay or become allocated. */
    public static final int ZERO_RANGE = 0x10;

    private static final int SEEK_DATA = 3;
    private static final int SEEK_HOLE = 4;

    private static final MethodHandle FALLOCATE = Libc.bind("fallocate", INT, INT, INT, LONG, LONG);
    private static final MethodHandle LSEEK = Libc.bind("lseek", LONG, INT, LONG, INT);

    private FileBlocks() {}

    /**
     * Allocates the blocks of a range, or what else the mode says.
     *
     * @param fd a descriptor open for writing
     * @param mode constants of this class, or-ed; 0 allocates, and makes the file longer
     * @param offsetBytes where the range begins
     * @param sizeBytes its length, above 0
     * @throws LinuxException ENOSPC, EFBIG; EOPNOTSUPP if the file system lacks it
     */
    public static void allocate(int fd, int mode, long offsetBytes, long sizeBytes) {
        CallState state = CallState.current();
        int result;
        try {
            do {
                result = (int) FALLOCATE.invokeExact(state.errno, fd, mode, offsetBytes, sizeBytes);
            } while (result != 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result != 0) {
            throw new LinuxException(
                    "fallocate",
                    state.lastErrno(),
                    "fd="
                            + fd
                            + ", mode="
                            + mode
                            + ", offsetBytes="
                            + offsetBytes
                            + ", sizeBytes="
                            + sizeBytes);
        }
    }

    /**
     * Finds data. A file system that does not know its holes calls all of the file data.
     *
     * @param fd the descriptor
     * @param offsetBytes where to begin
     * @return offset of the first data there or behind it; -1 if there is only a hole, or the
     *     file's end
     */
    public static long nextData(int fd, long offsetBytes) {
        return seek(fd, offsetBytes, SEEK_DATA);
    }

    /**
     * Finds a hole. The end of the file counts as one.
     *
     * @param fd the descriptor
     * @param offsetBytes where to begin
     * @return offset of the first hole there or behind it; -1 at the file's end or beyond
     */
    public static long nextHole(int fd, long offsetBytes) {
        return seek(fd, offsetBytes, SEEK_HOLE);
    }

    private static long seek(int fd, long offsetBytes, int whence) {
        CallState state = CallState.current();
        long result;
        try {
            result = (long) LSEEK.invokeExact(state.errno, fd, offsetBytes, whence);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result < 0 && state.lastErrno() != Errno.ENXIO) {
            throw new LinuxException(
                    whence == SEEK_DATA ? "lseek(SEEK_DATA)" : "lseek(SEEK_HOLE)",
                    state.lastErrno(),
                    "fd=" + fd + ", offsetBytes=" + offsetBytes);
        }
        return result;
    }
}
