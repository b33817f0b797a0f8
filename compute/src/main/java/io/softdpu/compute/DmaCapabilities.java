package io.softdpu.compute;

import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.spi.Arguments;

/**
 * What DMA contexts on a device can do (Core guide, chapter 4, {@code doca_dma_cap_*}). The limits
 * are enforced at submission. A value; any thread.
 */
public final class DmaCapabilities {
    private static final long MAX_BUF_BYTES = 2L << 30;
    private static final int MAX_LIST_ELEMENTS = 64;
    private static final int MAX_TASKS = 1 << 16;

    private DmaCapabilities() {}

    /** Those of a device; it need not be open. */
    public static DmaCapabilities of(DeviceInfo device) {
        Arguments.notNull(device, "device");
        return new DmaCapabilities();
    }

    /** Whether DMA can be used on the device at all. */
    public boolean isSupported() {
        return true;
    }

    /** Whether the memcpy task is supported. */
    public boolean isMemcpySupported() {
        return isSupported();
    }

    /** The most bytes that one task copies. */
    public long maxBufBytes() {
        return MAX_BUF_BYTES;
    }

    /** The most elements of a list of bufs, as source or as destination. */
    public int maxListElements() {
        return MAX_LIST_ELEMENTS;
    }

    /** The most tasks of a context. */
    public int maxTasks() {
        return MAX_TASKS;
    }
}
