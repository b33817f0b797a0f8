package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.internal.access.DependentsAccess;
import io.softdpu.core.internal.base.Dependents;
import io.softdpu.linux.text.Text;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Devices of one mmap, each kept open. Changed under the lock of the mmap and only while it is
 * IDLE; tasks read them without the lock, on any thread, and see the list before or after a change.
 */
@SuppressWarnings("ReferenceEquality") // devices and machines are objects, not values
final class MmapDevices {
    private record Attached(Device device, Dependents.Dependency dependency) {}

    /** Replaced, never changed. */
    private volatile List<Attached> all = List.of();

    /** The first device, which nearly all tasks use. */
    private @Nullable Device first;

    private int max = Mmap.DEFAULT_MAX_DEVICES;

    int max() {
        return max;
    }

    void setMax(int newMax) {
        if (newMax < 1 || newMax < all.size()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "number of devices out of range: maxDevices=%d, devices=%d, expected=1"
                                    + " or more, and at least the devices added",
                            newMax, all.size()));
        }
        max = newMax;
    }

    void add(Device device) {
        for (Attached attached : all) {
            if (attached.device == device) {
                throw new DpuException(
                        Status.ALREADY_EXIST, "device was added before: device=" + device);
            }
            if (attached.device.machine() != device.machine()) {
                throw new DpuException(
                        Status.INVALID_VALUE,
                        Text.format(
                                "devices of two machines: device=%s, machine=%s, otherMachine=%s",
                                device, device.machine(), attached.device.machine()));
            }
        }
        if (all.size() == max) {
            throw new DpuException(
                    Status.NO_MEMORY,
                    Text.format("limit of devices reached: device=%s, maxDevices=%d", device, max));
        }
        add(device, DependentsAccess.of(Device.class, device).add("mmap"));
    }

    /** Adds the only device of an import, which is kept open already. */
    void add(Device device, Dependents.Dependency dependency) {
        List<Attached> more = new ArrayList<>(all);
        more.add(new Attached(device, dependency));
        replace(more);
    }

    void remove(Device device) {
        for (Attached attached : all) {
            if (attached.device == device) {
                List<Attached> fewer = new ArrayList<>(all);
                fewer.remove(attached);
                replace(fewer);
                attached.dependency.release();
                return;
            }
        }
        throw new DpuException(Status.NOT_FOUND, "device was not added: device=" + device);
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    /** Whether this device was added; two devices opened from one function are the same here. */
    boolean has(Device device) {
        return device == first || isAmong(device);
    }

    private boolean isAmong(Device device) {
        List<Attached> now = all;
        for (int i = 0; i < now.size(); i++) {
            Device added = now.get(i).device;
            if (added == device
                    || (added.machine() == device.machine()
                            && added.info().function().equals(device.info().function()))) {
                return true;
            }
        }
        return false;
    }

    List<Device> list() {
        return all.stream().map(Attached::device).toList();
    }

    void releaseAll() {
        all.forEach(attached -> attached.dependency.release());
        replace(List.of());
    }

    private void replace(List<Attached> others) {
        all = List.copyOf(others);
        first = others.isEmpty() ? null : others.getFirst().device;
    }
}
