package io.softdpu.core.internal;

import io.softdpu.core.device.Device;
import io.softdpu.core.device.Representor;
import io.softdpu.core.internal.base.Usage;
import io.softdpu.core.internal.base.UsageAccess;
import java.util.function.Function;

/** Access of the packages above to what lives on devices and representors. Any thread. */
public final class DeviceAccess {
    private static final DeviceAccess INSTANCE = new DeviceAccess();

    private final Function<Device, Usage> devices = UsageAccess.get(Device.class);
    private final Function<Representor, Usage> representors = UsageAccess.get(Representor.class);

    private DeviceAccess() {}

    /** The only one. */
    public static DeviceAccess get() {
        return INSTANCE;
    }

    /** What lives on the device. */
    public Usage usage(Device device) {
        return devices.apply(device);
    }

    /** What lives on the representor. */
    public Usage usage(Representor representor) {
        return representors.apply(representor);
    }
}
