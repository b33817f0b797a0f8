package io.softdpu.compute;

import io.softdpu.core.Side;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.PciFunction;

/**
 * Capabilities of DMA contexts on a device (Core guide, sections 3.3.3 and 4, {@code
 * doca_dma_cap_*} and {@code doca_dma_get_max_list_buf_num_elem}). DMA is done by the card: devices
 * of the DPU have it, and those of the host that a port of the DPU has created. Immutable; any
 * thread.
 */
public final class DmaCapabilities {
    /** The limit that lowers {@link #maxTasks()}. */
    public static final DeviceLimit TASKS_LIMIT = DeviceLimit.ofCount("dma", "max_tasks");

    /** The limit that lowers {@link #maxBufferBytes()}. */
    public static final DeviceLimit BUFFER_SIZE_LIMIT =
            DeviceLimit.ofBytes("dma", "max_buffer_size");

    /** The limit that lowers {@link #maxBufferListLength()}. */
    public static final DeviceLimit BUFFER_LIST_LENGTH_LIMIT =
            DeviceLimit.ofCount("dma", "max_buffer_list_length");

    private static final int MAX_TASKS = 1 << 16;
    private static final long MAX_BUFFER_BYTES = 2L << 30;
    private static final int MAX_BUFFER_LIST_LENGTH = 64;

    private final int maxTasks;
    private final long maxBufferBytes;
    private final int maxBufferListLength;

    private DmaCapabilities(PciFunction function) {
        boolean onCard = function.side() == Side.DPU || function.parent() != null;
        maxTasks = onCard ? (int) function.lowered(TASKS_LIMIT, MAX_TASKS) : 0;
        maxBufferBytes = onCard ? function.lowered(BUFFER_SIZE_LIMIT, MAX_BUFFER_BYTES) : 0;
        maxBufferListLength =
                onCard
                        ? (int) function.lowered(BUFFER_LIST_LENGTH_LIMIT, MAX_BUFFER_LIST_LENGTH)
                        : 0;
    }

    /** The capabilities of a device, which need not be open. */
    public static DmaCapabilities of(DeviceInfo device) {
        return new DmaCapabilities(Arguments.notNull(device, "device").function());
    }

    /** Whether DMA contexts can be created on the device. */
    public boolean isSupported() {
        return maxTasks > 0;
    }

    /** Whether contexts on the device have the memcpy task, and the job. */
    public boolean isMemcpySupported() {
        return isSupported();
    }

    /**
     * Limit of tasks of each type in a context: of memcpy tasks, the only type. Jobs are limited by
     * their work queue.
     */
    public int maxTasks() {
        return maxTasks;
    }

    /** Limit of bytes per task or job; a source with more data is refused. */
    public long maxBufferBytes() {
        return maxBufferBytes;
    }

    /**
     * Limit of elements of a list of bufs, as source or as destination; a longer one is refused.
     */
    public int maxBufferListLength() {
        return maxBufferListLength;
    }
}
