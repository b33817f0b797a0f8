package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.internal.access.UsageAccess;
import io.softdpu.core.internal.base.Usage;

/**
 * An open representor. It keeps its device open, and stays open while a context lives on it. Any
 * thread.
 */
public final class Representor implements AutoCloseable {
    static {
        UsageAccess.install(Representor.class, Representor::usage);
    }

    private final RepresentorInfo info;
    private final Device device;
    private final Usage usage = new Usage(() -> "representor=" + this);
    private final Usage.Hold onDevice;

    Representor(RepresentorInfo info, Device device) {
        this.info = info;
        this.device = device;
        this.onDevice = device.usage().hold("representor " + info);
    }

    /** What was opened. */
    public RepresentorInfo info() {
        return info;
    }

    /** The device that it was opened on. */
    public Device device() {
        return device;
    }

    /**
     * Closes the representor; closing twice does nothing.
     *
     * @throws DpuException IN_USE if a context lives on it; the message names it
     */
    @Override
    public void close() {
        if (usage.close()) {
            onDevice.release();
        }
    }

    /** Address and interface name. */
    @Override
    public String toString() {
        return info.toString();
    }

    Usage usage() {
        return usage;
    }
}
