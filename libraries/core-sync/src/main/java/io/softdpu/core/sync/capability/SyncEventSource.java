package io.softdpu.core.sync.capability;

import io.softdpu.core.capability.Capability;
import io.softdpu.core.capability.CapabilitySource;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.sync.SyncEventCapabilities;
import java.util.List;

/** Source of the capabilities of sync events: exports, tasks and limits. */
public final class SyncEventSource implements CapabilitySource {
    /** For ServiceLoader. */
    public SyncEventSource() {}

    @Override
    public String library() {
        return "sync-event";
    }

    @Override
    public List<DeviceLimit> limits() {
        return List.of(
                SyncEventCapabilities.TASKS_LIMIT,
                SyncEventCapabilities.WAIT_TASKS_LIMIT,
                SyncEventCapabilities.DPU_HANDLES_LIMIT,
                SyncEventCapabilities.REMOTE_EVENTS_LIMIT);
    }

    @Override
    public List<Capability> capabilities(DeviceInfo device) {
        SyncEventCapabilities events = SyncEventCapabilities.of(device);
        return List.of(
                Capability.support("export_pci", events.isExportPciSupported()),
                Capability.support("create_from_export_pci", events.isCreateFromExportSupported()),
                Capability.support("export_rdma", events.isExportRdmaSupported()),
                Capability.support("create_from_export_rdma", events.isCreateRemoteSupported()),
                Capability.support("export_dpa", false),
                Capability.support("export_gpu", false),
                Capability.support("task_get", events.isSupported()),
                Capability.support("task_set", events.isSupported()),
                Capability.support("task_add", events.isSupported()),
                Capability.support("task_wait", events.isWaitTaskSupported()),
                Capability.limit(SyncEventCapabilities.TASKS_LIMIT, events.maxTasks()),
                Capability.limit(SyncEventCapabilities.WAIT_TASKS_LIMIT, events.maxWaitTasks()),
                Capability.limit(SyncEventCapabilities.DPU_HANDLES_LIMIT, events.maxDpuHandles()),
                Capability.limit(
                        SyncEventCapabilities.REMOTE_EVENTS_LIMIT, events.maxRemoteEvents()));
    }
}
