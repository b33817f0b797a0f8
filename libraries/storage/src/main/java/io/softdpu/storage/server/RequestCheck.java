package io.softdpu.storage.server;

import io.softdpu.core.Status;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.storage.wire.IoType;

/**
 * Validation of a request, given values that were copied from its message. All values come from an
 * untrusted peer, and an accepted offset is used as an address.
 *
 * @param volumeSizeBytes the size of the volume
 * @param blockSizeBytes requests cover whole blocks of this size, a power of two
 * @param memorySizeBytes the size of the initiator's exported memory
 * @param maxIoSizeBytes the largest request, see {@link #maxIoSizeBytes(DeviceInfo)}
 */
record RequestCheck(
        long volumeSizeBytes, int blockSizeBytes, long memorySizeBytes, long maxIoSizeBytes) {
    /** The largest RDMA message of any device. */
    private static final long MAX_RDMA_MESSAGE_BYTES = 1L << 31;

    /** The largest request: the largest RDMA operation of this device. */
    static long maxIoSizeBytes(DeviceInfo device) {
        return Math.min(MAX_RDMA_MESSAGE_BYTES, RdmaCapabilities.of(device).maxMessageBytes());
    }

    /**
     * Checks a request. Allocates nothing.
     *
     * @param type the raw type
     * @param ioSize 0 to 2^32 - 1
     * @param requesterOffset 64 raw bits
     * @param storageOffset 64 raw bits
     * @return SUCCESS or INVALID_VALUE
     */
    Status check(int type, long ioSize, long requesterOffset, long storageOffset) {
        boolean legal =
                ioSize > 0
                        && ioSize <= maxIoSizeBytes
                        && (type == IoType.READ.code() || type == IoType.WRITE.code())
                        && isWithin(storageOffset, ioSize, volumeSizeBytes)
                        && isWithin(requesterOffset, ioSize, memorySizeBytes)
                        && (storageOffset & (blockSizeBytes - 1)) == 0
                        && (ioSize & (blockSizeBytes - 1)) == 0;
        return legal ? Status.SUCCESS : Status.INVALID_VALUE;
    }

    /** Whether a range is within a limit; without a sum that could overflow. */
    private static boolean isWithin(long offset, long size, long limit) {
        return offset >= 0 && size <= limit && offset <= limit - size;
    }
}
