package io.softdpu.core.capability;

import io.softdpu.core.device.DeviceInfo;
import java.util.List;

/**
 * The part of a library that tells what it can do on a device; a service, found by ServiceLoader.
 *
 * <p>Any thread may call it, for any device of any machine of the program, open or not.
 */
public interface CapabilitySource {
    /** The name of the library, unique, lower case with hyphens, for example {@code comch}. */
    String library();

    /**
     * All that the library says of itself on the device: the same names in the same order for each
     * device, supported or not.
     *
     * @param device never null
     */
    List<Capability> capabilities(DeviceInfo device);
}
