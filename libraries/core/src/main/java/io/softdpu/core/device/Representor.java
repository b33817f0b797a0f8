package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.internal.access.DependentsAccess;
import io.softdpu.core.internal.base.Dependents;

/**
 * Open representor. It keeps its device open, and cannot be closed while a started context uses it.
 * Any thread.
 */
public final class Representor implements AutoCloseable {
    static {
        DependentsAccess.install(Representor.class, Representor::dependents);
    }

    private final RepresentorInfo info;
    private final Device device;
    private final Dependents dependents = new Dependents(() -> "representor=" + this);
    private final Dependents.Dependency onDevice;

    Representor(RepresentorInfo info, Device device) {
        this.info = info;
        this.device = device;
        this.onDevice = device.dependents().add("representor " + info);
    }

    /** Description of the representor. */
    public RepresentorInfo info() {
        return info;
    }

    /** The device on which it was opened. */
    public Device device() {
        return device;
    }

    /**
     * Closes the representor; closing twice does nothing.
     *
     * @throws DpuException IN_USE if a started context uses it; the message names the context
     */
    @Override
    public void close() {
        if (dependents.close()) {
            onDevice.release();
        }
    }

    /** Address and interface name. */
    @Override
    public String toString() {
        return info.toString();
    }

    Dependents dependents() {
        return dependents;
    }
}
