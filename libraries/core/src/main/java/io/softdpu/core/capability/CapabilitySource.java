package io.softdpu.core.capability;

import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import java.util.List;

/**
 * Source of a library's capabilities, and of the limits that a topology can lower; a service, found
 * by ServiceLoader. A library is present in a program if its source is.
 *
 * <p>Any thread may call it, for any device of any machine of the program, open or not.
 */
public interface CapabilitySource {
    /**
     * The name of the library, unique, lower case with hyphens, for example {@code comch}; at most
     * 32.
     */
    String library();

    /**
     * The limits of the library that a topology can lower for a device, each once, always the same;
     * empty if there are none. {@link #capabilities} has the value of each under the same name.
     *
     * <p>A topology with another limit of this library is refused wherever the library is present.
     */
    List<DeviceLimit> limits();

    /**
     * All capabilities of the library on the device: the same names in the same order for each
     * device, supported or not.
     *
     * @param device never null
     */
    List<Capability> capabilities(DeviceInfo device);
}
