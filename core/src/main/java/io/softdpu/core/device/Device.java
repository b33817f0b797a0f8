package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machine;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.internal.DeviceAccess;
import io.softdpu.core.internal.MachineAccess;
import io.softdpu.core.internal.Usage;
import io.softdpu.core.spi.Arguments;
import java.util.List;

/**
 * An open local device: what mmaps are given access through and contexts work on.
 *
 * <p>It keeps its machine open, and stays open while an mmap, a context or a representor lives on
 * it. Any thread.
 */
public final class Device implements AutoCloseable {
    static {
        DeviceAccess.set(
                new DeviceAccess() {
                    @Override
                    public Usage usage(Device device) {
                        return device.usage;
                    }

                    @Override
                    public Usage usage(Representor representor) {
                        return representor.usage();
                    }
                });
    }

    private final DeviceInfo info;
    private final Usage usage = new Usage(() -> "device=" + this);
    private final Usage.Hold onMachine;

    Device(DeviceInfo info) {
        this.info = info;
        this.onMachine =
                MachineAccess.get().usage(info.machine()).hold("device " + info.pciAddress());
    }

    /** What was opened. */
    public DeviceInfo info() {
        return info;
    }

    /** The machine that has it. */
    public Machine machine() {
        return info.machine();
    }

    /**
     * A snapshot of the representors of all functions that this port made, and of no other.
     *
     * @return empty for a device of the DPU that is no port
     * @throws DpuException NOT_SUPPORTED on any side but the DPU; BAD_STATE if the device is closed
     */
    public List<RepresentorInfo> representors() {
        usage.requireOpen();
        if (machine().side() != Side.DPU) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    "representors exist on the DPU alone: device=%s, side=%s"
                            .formatted(this, machine().side().id()));
        }
        return machine().topology().childrenOf(info.function()).stream()
                .map(function -> new RepresentorInfo(info.function(), function))
                .toList();
    }

    /**
     * The representor with this name.
     *
     * @param id the PCI address that it shares with the function it stands for, in the short or the
     *     long form, its own interface name, or the vuid that it shares with the function
     * @throws DpuException NOT_FOUND if there is none, listing those that there are; NOT_SUPPORTED
     *     on any side but the DPU; BAD_STATE if the device is closed
     */
    public RepresentorInfo findRepresentor(String id) {
        Arguments.notNull(id, "id");
        List<RepresentorInfo> representors = representors();
        for (RepresentorInfo representor : representors) {
            if (representor.answersTo(id)) {
                return representor;
            }
        }
        throw new DpuException(
                Status.NOT_FOUND,
                "no such representor: representor=%s, device=%s, available=%s"
                        .formatted(id, this, representors));
    }

    /**
     * Closes the device; closing twice does nothing.
     *
     * @throws DpuException IN_USE if something lives on it; the message names it
     */
    @Override
    public void close() {
        if (usage.close()) {
            onMachine.release();
        }
    }

    /** Address and interface name. */
    @Override
    public String toString() {
        return info.pciAddress() + " " + info.interfaceName();
    }
}
