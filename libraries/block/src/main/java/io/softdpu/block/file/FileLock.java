package io.softdpu.block.file;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.OpenFileLocks;
import java.nio.file.Path;
import java.time.Duration;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Lock of a volume: a range of bytes far behind its end, of which each open file that carries
 * requests locks one. An open tries all of them, and then keeps the first.
 *
 * <p>The kernel keeps the lock of an open file as long as requests use that, also when its process
 * was killed. So who gets all of the range is sure that no earlier request is still under way.
 * Locks are exclusive, of a volume that is read-only shared. Any thread.
 */
final class FileLock {
    /** Offset of the first byte that is locked. */
    static final long FIRST_BYTE = 1L << 62;

    /** Length of the range. */
    static final int BYTES = 1 << 16;

    private static final long MIN_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long MAX_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final Path file;
    private final boolean shared;

    /** Places of the range that open files of this device have locked. */
    private final BitSet used = new BitSet();

    private FileLock(Path file, boolean shared) {
        this.file = file;
        this.shared = shared;
        used.set(0);
    }

    /**
     * Locks a file, and waits until that is possible.
     *
     * @param fd the open file, which keeps the first byte until it is closed
     * @throws DpuException IN_USE, if the time has passed or the thread was interrupted, which it
     *     stays
     * @throws io.softdpu.linux.LinuxException if the file system has no such locks
     */
    static FileLock acquire(int fd, Path file, boolean shared, Duration wait) {
        FileLock lock = new FileLock(file, shared);
        if (!await(wait, () -> lock.tryLock(fd, FIRST_BYTE, BYTES))) {
            throw inUse(file, "another open file holds its lock, " + LockHolder.of(fd), wait);
        }
        OpenFileLocks.unlock(fd, FIRST_BYTE + 1, BYTES - 1);
        return lock;
    }

    /** The refusal of a file that something else uses. */
    static DpuException inUse(Path file, String reason, Duration wait) {
        return FileFailures.refused(
                Status.IN_USE,
                file,
                reason,
                "one that is free, or becomes it, lockWaitSeconds=" + wait.toSeconds(),
                null);
    }

    /**
     * Waits for a condition that no event announces.
     *
     * @return whether it has become true in time, and before an interrupt
     */
    static boolean await(Duration wait, BooleanSupplier condition) {
        long begin = System.nanoTime();
        long pauseNanos = MIN_PAUSE_NANOS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - begin >= wait.toNanos()
                    || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(pauseNanos);
            pauseNanos = Math.min(2 * pauseNanos, MAX_PAUSE_NANOS);
        }
        return true;
    }

    /**
     * Locks a byte for a further open file of this device: one that is free, since the kernel may
     * close an open file, and end its lock, a little after the last request was completed.
     *
     * @return the place, for {@link #release}
     * @throws DpuException FULL if there are too many; IN_USE if another program has locked all
     */
    synchronized int lock(int fd) {
        if (used.cardinality() == BYTES) {
            throw FileFailures.refused(
                    Status.FULL, file, "too many contexts", "at most " + (BYTES - 1), null);
        }
        for (int place = used.nextClearBit(0);
                place < BYTES;
                place = used.nextClearBit(place + 1)) {
            if (tryLock(fd, FIRST_BYTE + place, 1)) {
                used.set(place);
                return place;
            }
        }
        throw FileFailures.refused(
                Status.IN_USE, file, "another program has locked it", "no lock of it", null);
    }

    /** The open file of this place was closed, and its lock has ended so. */
    synchronized void release(int place) {
        used.clear(place);
    }

    private boolean tryLock(int fd, long first, long count) {
        return shared
                ? OpenFileLocks.tryLockShared(fd, first, count)
                : OpenFileLocks.tryLockExclusive(fd, first, count);
    }
}
