package io.softdpu.compute;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.linux.text.Text;

/**
 * Compress context of the Core guide, section 3.3.3, which no device of softdpu supports. The call
 * that creates one exists, so that a program with a path for devices without it takes that path.
 */
public final class Compress {
    private Compress() {}

    /**
     * Refuses to create a context.
     *
     * @throws DpuException NOT_SUPPORTED, naming the device; INVALID_VALUE if it is null
     */
    public static Compress create(Device device) {
        Arguments.notNull(device, "device");
        throw new DpuException(
                Status.NOT_SUPPORTED,
                Text.format("device has no compression: device=%s, expected=Dma or Sha", device));
    }
}
