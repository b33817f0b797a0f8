package io.softdpu.block.spi;

import io.softdpu.core.Status;
import io.softdpu.linux.Errno;
import io.softdpu.linux.text.Text;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Failures of the system calls of a device: their statuses, and one log for all of its channels.
 * The first failure of a kind, an operation with an errno, is logged, then one line per second with
 * the number since. Any thread.
 *
 * <p>What the system asks to repeat, EAGAIN and EINTR, is no failure: the channel repeats it.
 */
public final class DeviceFailures implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(DeviceFailures.class.getName());
    private static final long INTERVAL_NANOS = 1_000_000_000;

    /** Failures of one kind. */
    private static final class Count {
        private long loggedNanos;
        private long unlogged;
        private long lastOffsetBytes;
    }

    private record Kind(BlockOperation operation, int errno) {}

    private final String device;
    private final LongSupplier nanoTime;
    private final Map<Kind, Count> counts = new HashMap<>();

    /**
     * Creates the log of a device.
     *
     * @param device its description
     */
    public DeviceFailures(String device) {
        this(device, System::nanoTime);
    }

    DeviceFailures(String device, LongSupplier nanoTime) {
        this.device = device;
        this.nanoTime = nanoTime;
    }

    /**
     * Status of a request that has failed.
     *
     * @return of a flush IO_FAILED for every errno: whatever the reason is, bytes were lost
     */
    public static Status statusOf(BlockOperation operation, int errno) {
        if (operation == BlockOperation.FLUSH) {
            return Status.IO_FAILED;
        }
        return switch (errno) {
            case Errno.ENOSPC, Errno.EDQUOT, Errno.EFBIG -> Status.FULL;
            case Errno.EROFS, Errno.EPERM -> Status.NOT_PERMITTED;
            default -> Status.IO_FAILED;
        };
    }

    /**
     * Logs a failure, unless one of its kind was logged within the last second.
     *
     * @param offsetBytes where in the device
     * @return the status of the request
     */
    public Status report(BlockOperation operation, int errno, long offsetBytes) {
        Kind kind = new Kind(operation, errno);
        long now = nanoTime.getAsLong();
        synchronized (counts) {
            Count count = counts.get(kind);
            if (count == null) {
                counts.put(kind, first(kind, offsetBytes, now));
            } else {
                count.unlogged++;
                count.lastOffsetBytes = offsetBytes;
                if (now - count.loggedNanos >= INTERVAL_NANOS) {
                    logFurther(kind, count, now);
                }
            }
        }
        return statusOf(operation, errno);
    }

    /** Logs the numbers that were not logged yet. */
    @Override
    public void close() {
        long now = nanoTime.getAsLong();
        synchronized (counts) {
            counts.forEach((kind, count) -> {
                if (count.unlogged > 0) {
                    logFurther(kind, count, now);
                }
            });
        }
    }

    private Count first(Kind kind, long offsetBytes, long now) {
        Count count = new Count();
        count.loggedNanos = now;
        LOG.log(
                System.Logger.Level.WARNING,
                Text.format(
                        "request of a block device has failed: blockDevice=%s, operation=%s,"
                                + " errno=%s, offsetBytes=%d, status=%s",
                        device,
                        kind.operation,
                        Errno.name(kind.errno),
                        offsetBytes,
                        statusOf(kind.operation, kind.errno)));
        return count;
    }

    private void logFurther(Kind kind, Count count, long now) {
        LOG.log(
                System.Logger.Level.WARNING,
                Text.format(
                        "further requests of a block device have failed: blockDevice=%s,"
                                + " operation=%s, errno=%s, count=%d, lastOffsetBytes=%d",
                        device,
                        kind.operation,
                        Errno.name(kind.errno),
                        count.unlogged,
                        count.lastOffsetBytes));
        count.loggedNanos = now;
        count.unlogged = 0;
    }
}
