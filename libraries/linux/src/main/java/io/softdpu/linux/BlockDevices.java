package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.LONG;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.invoke.MethodHandle;

/** Properties of block devices (ioctl), of which statx does not tell. Any thread. */
public final class BlockDevices {
    private static final long BLKSSZGET = 0x1268;
    private static final long BLKGETSIZE64 = 0x8008_1272L;

    private static final MethodHandle IOCTL =
            Libc.bindVariadic("ioctl", 2, INT, INT, LONG, POINTER);

    private BlockDevices() {}

    /**
     * Size of a block device.
     *
     * @param fd the descriptor
     * @return bytes
     * @throws LinuxException ENOTTY if it is not a block device
     */
    public static long sizeBytes(int fd) {
        return ask("ioctl(BLKGETSIZE64)", BLKGETSIZE64, fd).scratch.get(LONG, 0);
    }

    /**
     * Size of a logical block of a block device, to which direct I/O is aligned.
     *
     * @param fd the descriptor
     * @return bytes, a power of two
     * @throws LinuxException ENOTTY if it is not a block device
     */
    public static int blockBytes(int fd) {
        return ask("ioctl(BLKSSZGET)", BLKSSZGET, fd).scratch.get(INT, 0);
    }

    private static CallState ask(String call, long request, int fd) {
        CallState state = CallState.current();
        int result;
        try {
            result = (int) IOCTL.invokeExact(state.errno, fd, request, state.scratchAddress);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result != 0) {
            throw new LinuxException(call, state.lastErrno(), "fd=" + fd);
        }
        return state;
    }
}
