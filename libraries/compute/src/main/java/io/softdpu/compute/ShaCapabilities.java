package io.softdpu.compute;

import io.softdpu.core.Side;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.PciFunction;

/**
 * Capabilities of SHA contexts on a device (Core guide, sections 3.3.3 and 4, {@code
 * doca_sha_cap_*} and {@code doca_sha_get_*}). Hashes are computed by the card: devices of the DPU
 * have them, and those of the host that a port of the DPU has created. Immutable; any thread.
 */
public final class ShaCapabilities {
    /**
     * The limit that lowers {@link #maxTasks()}; 0 for a device that does not support SHA, as newer
     * cards do not.
     */
    public static final DeviceLimit TASKS_LIMIT = DeviceLimit.ofOptionalCount("sha", "max_tasks");

    /** The limit that lowers {@link #maxSourceBufferBytes()}. */
    public static final DeviceLimit SOURCE_BUFFER_SIZE_LIMIT =
            DeviceLimit.ofBytes("sha", "max_source_buffer_size");

    /** The limit that lowers {@link #maxBufferListLength()}. */
    public static final DeviceLimit BUFFER_LIST_LENGTH_LIMIT =
            DeviceLimit.ofCount("sha", "max_buffer_list_length");

    /** A task has a state for each algorithm, 2 KiB in all: 32 MiB for so many. */
    private static final int MAX_TASKS = 1 << 14;

    private static final long MAX_SOURCE_BUFFER_BYTES = 2L << 30;
    private static final int MAX_BUFFER_LIST_LENGTH = 64;

    private final int maxTasks;
    private final long maxSourceBufferBytes;
    private final int maxBufferListLength;

    private ShaCapabilities(PciFunction function) {
        boolean onCard = function.side() == Side.DPU || function.parent() != null;
        maxTasks = onCard ? (int) function.lowered(TASKS_LIMIT, MAX_TASKS) : 0;
        maxSourceBufferBytes =
                maxTasks > 0
                        ? function.lowered(SOURCE_BUFFER_SIZE_LIMIT, MAX_SOURCE_BUFFER_BYTES)
                        : 0;
        maxBufferListLength =
                maxTasks > 0
                        ? (int) function.lowered(BUFFER_LIST_LENGTH_LIMIT, MAX_BUFFER_LIST_LENGTH)
                        : 0;
    }

    /** The capabilities of a device, which need not be open. */
    public static ShaCapabilities of(DeviceInfo device) {
        return new ShaCapabilities(Arguments.notNull(device, "device").function());
    }

    /** Whether SHA contexts can be created on the device. */
    public boolean isSupported() {
        return maxTasks > 0;
    }

    /** Whether contexts on the device have tasks and jobs that hash a source as a whole. */
    public boolean isHashSupported(ShaAlgorithm algorithm) {
        Arguments.notNull(algorithm, "algorithm");
        return isSupported();
    }

    /** Whether contexts on the device have tasks and jobs that hash a source in parts. */
    public boolean isPartialHashSupported(ShaAlgorithm algorithm) {
        Arguments.notNull(algorithm, "algorithm");
        return isSupported();
    }

    /**
     * Whether the digests are computed by hardware of the card ({@code
     * doca_sha_get_hardware_supported}): never, the JDK computes them.
     */
    public boolean isHardwareSupported() {
        return false;
    }

    /**
     * Limit of tasks of each type in a context; 0 if the device does not support SHA. Jobs are
     * limited by their work queue.
     */
    public int maxTasks() {
        return maxTasks;
    }

    /** Limit of bytes per task or job; a source with more data is refused. */
    public long maxSourceBufferBytes() {
        return maxSourceBufferBytes;
    }

    /**
     * Limit of elements of a list of bufs, as source or as destination; a longer one is refused.
     */
    public int maxBufferListLength() {
        return maxBufferListLength;
    }

    /**
     * Tailroom that a destination needs: the length of the digest; 0 if the algorithm is not
     * supported.
     */
    public int minDestinationBufferBytes(ShaAlgorithm algorithm) {
        return isHashSupported(algorithm) ? algorithm.digestBytes() : 0;
    }

    /**
     * Block of which the data of each part but the last is a multiple; 0 if the algorithm is not
     * supported.
     */
    public int partialHashBlockBytes(ShaAlgorithm algorithm) {
        return isPartialHashSupported(algorithm) ? algorithm.blockBytes() : 0;
    }
}
