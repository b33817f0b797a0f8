package io.softdpu.storage.server;

import io.softdpu.core.Status;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.storage.wire.IoType;

/**
 * Decides whether a request can be carried out, from values that were copied out of its message.
 * Everything in it comes from a peer that may be hostile, and an offset that is not refused here
 * becomes an address.
 *
 * @param volumeSizeBytes the size of the volume
 * @param blockSizeBytes requests cover whole blocks of this size, a power of two
 * @param memorySizeBytes the size of the memory that the initiator has exported
 * @param maxIoSizeBytes the largest request, of {@link #maxIoSizeBytes(DeviceInfo)}
 */
record RequestCheck(
        long volumeSizeBytes, int blockSizeBytes, long memorySizeBytes, long maxIoSizeBytes) {
    /** The largest message of RDMA, whatever the device. */
    private static final long MAX_RDMA_MESSAGE_BYTES = 1L << 31;

    /** The largest request: what one RDMA operation of this device can move. */
    static long maxIoSizeBytes(DeviceInfo device) {
        return Math.min(MAX_RDMA_MESSAGE_BYTES, RdmaCapabilities.of(device).maxMessageBytes());
    }

    /**
     * SUCCESS, or INVALID_VALUE. Allocates nothing.
     *
     * @param type the raw type
     * @param ioSize 0 to 2^32 - 1
     * @param requesterOffset 64 raw bits
     * @param storageOffset 64 raw bits
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

    /** Written so that no sum can overflow. */
    private static boolean isWithin(long offset, long size, long limit) {
        return offset >= 0 && size <= limit && offset <= limit - size;
    }
}
