package io.softdpu.core.sync;

import io.softdpu.core.Side;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.PciFunction;

/**
 * Capabilities of sync events on a device (Core guide, section 3.4.6). Each device has sync events;
 * those of the host that a port of the DPU has created can export them to that port, and each
 * device to RDMA peers. Immutable; any thread.
 */
public final class SyncEventCapabilities {
    /** The limit that lowers {@link #maxTasks()}. */
    public static final DeviceLimit TASKS_LIMIT = DeviceLimit.ofCount("sync-event", "max_tasks");

    /** The limit that lowers {@link #maxWaitTasks()}; 0 for a device without asynchronous wait. */
    public static final DeviceLimit WAIT_TASKS_LIMIT =
            DeviceLimit.ofOptionalCount("sync-event", "max_wait_tasks");

    /** The limit that lowers {@link #maxDpuHandles()}. */
    public static final DeviceLimit DPU_HANDLES_LIMIT =
            DeviceLimit.ofCount("sync-event", "max_dpu_handles");

    /** The limit that lowers {@link #maxRemoteEvents()}. */
    public static final DeviceLimit REMOTE_EVENTS_LIMIT =
            DeviceLimit.ofCount("sync-event", "max_remote_events");

    private static final int MAX_TASKS = 1 << 16;
    private static final int MAX_WAIT_TASKS = 1 << 12;
    private static final int MAX_DPU_HANDLES = 32;
    private static final int MAX_REMOTE_EVENTS = 32;

    private final int maxTasks;
    private final int maxWaitTasks;
    private final int maxDpuHandles;
    private final int maxRemoteEvents;
    private final boolean exportPciSupported;
    private final boolean importSupported;

    private SyncEventCapabilities(DeviceInfo device) {
        PciFunction function = device.function();
        maxTasks = (int) function.lowered(TASKS_LIMIT, MAX_TASKS);
        maxWaitTasks = (int) function.lowered(WAIT_TASKS_LIMIT, MAX_WAIT_TASKS);
        exportPciSupported = function.side() == Side.HOST && device.isMmapExportPciSupported();
        importSupported = device.isMmapFromExportPciSupported();
        maxRemoteEvents = (int) function.lowered(REMOTE_EVENTS_LIMIT, MAX_REMOTE_EVENTS);
        maxDpuHandles =
                exportPciSupported ? (int) function.lowered(DPU_HANDLES_LIMIT, MAX_DPU_HANDLES) : 0;
    }

    /** The capabilities of a device, which need not be open. */
    public static SyncEventCapabilities of(DeviceInfo device) {
        return new SyncEventCapabilities(Arguments.notNull(device, "device"));
    }

    /** Whether sync events can be created on the device. */
    public boolean isSupported() {
        return true;
    }

    /** Whether sync events can be exported through the device for use on the DPU. */
    public boolean isExportPciSupported() {
        return exportPciSupported;
    }

    /** Whether DPU handles can be created on the device. */
    public boolean isCreateFromExportSupported() {
        return importSupported;
    }

    /** Whether sync events can be exported through the device for use by RDMA peers. */
    public boolean isExportRdmaSupported() {
        return true;
    }

    /** Whether remote sync events can be created on the device. */
    public boolean isCreateRemoteSupported() {
        return true;
    }

    /** Whether contexts have the wait tasks, and the wait job; otherwise get takes their place. */
    public boolean isWaitTaskSupported() {
        return maxWaitTasks > 0;
    }

    /** Limit of get, set and add tasks, of each type. Jobs are limited by their work queue. */
    public int maxTasks() {
        return maxTasks;
    }

    /** Limit of wait tasks, of each of the three types; 0 if the device has none. */
    public int maxWaitTasks() {
        return maxWaitTasks;
    }

    /** Limit of DPU handles of one sync event; 0 if the device cannot export it. */
    public int maxDpuHandles() {
        return maxDpuHandles;
    }

    /** Limit of remote events of one sync event that the device exports. */
    public int maxRemoteEvents() {
        return maxRemoteEvents;
    }
}
