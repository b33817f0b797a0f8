package io.softdpu.block.file;

import io.softdpu.block.property.BlockIdentity;
import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.DeviceFailures;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.FileIo;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.text.Reason;
import org.jspecify.annotations.Nullable;

/**
 * Loss of bytes that were acknowledged, and the identity of the volume, which is another one after
 * it. Any thread.
 */
final class VolumeLoss {
    /** Open file of the device, which is told of a loss whatever other open files were told. */
    private final int fd;

    private final VolumeIdentity identity;
    private final String blockDevice;
    private final DeviceFailures failures;

    /** Whether a loss is known: no flush succeeds from then on. */
    private volatile boolean known;

    /** Whether the volume got another identity after the loss. */
    private volatile boolean renewed;

    /** Guards the report of a loss to the open file until it is noted. */
    private final Object report = new Object();

    /**
     * Begins without a loss.
     *
     * @param fd as long as the device is open
     * @param blockDevice its description
     */
    VolumeLoss(int fd, VolumeIdentity identity, String blockDevice, DeviceFailures failures) {
        this.fd = fd;
        this.identity = identity;
        this.blockDevice = blockDevice;
        this.failures = failures;
    }

    BlockIdentity identity() {
        return identity.get();
    }

    /** Whether a loss is known since the device was opened. */
    boolean isKnown() {
        return known;
    }

    /** Records a loss: no flush succeeds from then on. */
    void note() {
        known = true;
    }

    /**
     * Asks the kernel for a loss that no other open file may have noted yet. Does not wait for the
     * file.
     *
     * @return whether bytes were lost since the device was opened
     */
    boolean learn() {
        synchronized (report) { // a second one finds no report, and waits for what the first notes
            int errno = known ? 0 : FileIo.takeLossReport(fd);
            if (errno != 0) {
                known = true;
                Status _ = failures.report(BlockOperation.FLUSH, errno, 0);
            }
            return known;
        }
    }

    /** Whether the volume got another identity after the loss. */
    boolean isRenewed() {
        return renewed;
    }

    /** Gives the volume another identity, once. Waits for the file. */
    void renewIdentity() {
        known = true;
        if (!renewed) {
            renewOnce();
        }
    }

    private synchronized void renewOnce() {
        if (!renewed) {
            // Of the same loss: the sync of the identity would fail with it.
            int _ = FileIo.takeLossReport(fd);
            identity.renew();
            renewed = true; // last: who finds it set sees the other identity
        }
    }

    /**
     * Makes what was written durable, and notes that nothing can be lost, unless a failure was
     * followed by another identity.
     *
     * @throws DpuException IO_FAILED if bytes were lost and no failure has told
     */
    void close() {
        if (renewed) {
            return;
        }
        @Nullable LinuxException failure = null;
        try {
            FileIo.syncData(fd);
        } catch (LinuxException e) {
            failure = e;
        }
        if (failure == null && !known) {
            identity.close();
            return;
        }
        identity.renew();
        throw new DpuException(
                Status.IO_FAILED,
                "bytes of a block device were lost before it was closed: blockDevice="
                        + blockDevice
                        + ", failure="
                        + (failure == null ? "as logged" : Reason.of(failure)),
                failure);
    }
}
