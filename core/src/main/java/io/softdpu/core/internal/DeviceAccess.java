package io.softdpu.core.internal;

import io.softdpu.core.device.Device;
import io.softdpu.core.device.Representor;
import org.jspecify.annotations.Nullable;

/** What devices and representors show to the rest of this module. */
public abstract class DeviceAccess {
    private static volatile @Nullable DeviceAccess instance;

    /** The one that {@code Device} has left. */
    public static DeviceAccess get() {
        return ClassLoading.access(Device.class, () -> instance);
    }

    /** Called once, by {@code Device}. */
    public static void set(DeviceAccess access) {
        instance = access;
    }

    /** What lives on the device. */
    public abstract Usage usage(Device device);

    /** What lives on the representor. */
    public abstract Usage usage(Representor representor);
}
