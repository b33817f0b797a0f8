package io.softdpu.core.capability;

import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import java.util.List;

/** Capabilities of Core itself on a device; found by ServiceLoader. */
public final class CoreSource implements CapabilitySource {
    static final String NAME = "core";

    /** For ServiceLoader. */
    public CoreSource() {}

    @Override
    public String library() {
        return NAME;
    }

    /** None: the limits of core are set per machine, not per device. */
    @Override
    public List<DeviceLimit> limits() {
        return List.of();
    }

    @Override
    public List<Capability> capabilities(DeviceInfo device) {
        Arguments.notNull(device, "device");
        return List.of(
                Capability.support("mmap_export_pci", device.isMmapExportPciSupported()),
                Capability.support("mmap_from_export_pci", device.isMmapFromExportPciSupported()),
                Capability.support("representor_list", device.isRepresentorListSupported()),
                Capability.support("hotplug_manager", device.isHotplugManagerSupported()),
                Capability.limit(
                        "max_imported_bytes",
                        Capability.Unit.BYTES,
                        device.machine().importedBytesLimit()),
                Capability.limit(
                        "max_imported_bytes_per_peer",
                        Capability.Unit.BYTES,
                        device.machine().importedBytesLimitPerPeer()));
    }
}
