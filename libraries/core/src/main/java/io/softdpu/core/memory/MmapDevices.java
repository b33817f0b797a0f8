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
 * Devices of one mmap, each kept open while that is started. Changed under the lock of the mmap and
 * only while it is IDLE; tasks read them without the lock, on any thread, and see the list before
 * or after a change.
 */
@SuppressWarnings("ReferenceEquality") // devices and machines are objects, not values
final class MmapDevices {
    /** Replaced, never changed. */
    private volatile List<Device> all = List.of();

    /** Dependencies on the devices, in their order; empty while none is held. */
    private List<Dependents.Dependency> held = List.of();

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
        DependentsAccess.of(Device.class, device).requireOpen();
        for (Device added : all) {
            if (added == device) {
                throw new DpuException(
                        Status.ALREADY_EXIST, "device was added before: device=" + device);
            }
            if (added.machine() != device.machine()) {
                throw new DpuException(
                        Status.INVALID_VALUE,
                        Text.format(
                                "devices of two machines: device=%s, machine=%s, otherMachine=%s",
                                device, device.machine(), added.machine()));
            }
        }
        if (all.size() == max) {
            throw new DpuException(
                    Status.NO_MEMORY,
                    Text.format("limit of devices reached: device=%s, maxDevices=%d", device, max));
        }
        List<Device> more = new ArrayList<>(all);
        more.add(device);
        replace(more);
    }

    /** Adds the only device of an import, which is kept open already. */
    void add(Device device, Dependents.Dependency dependency) {
        replace(List.of(device));
        held = List.of(dependency);
    }

    void remove(Device device) {
        int index = all.indexOf(device);
        if (index < 0) {
            throw new DpuException(Status.NOT_FOUND, "device was not added: device=" + device);
        }
        List<Device> fewer = new ArrayList<>(all);
        fewer.remove(index);
        replace(fewer);
        if (index < held.size()) { // stopped, with bufs that were not released
            held.remove(index).release();
        }
    }

    /**
     * Keeps the devices open; once, however often it is called.
     *
     * @param user the mmap, for messages
     * @throws DpuException BAD_STATE if one of them is closed; nothing has changed then
     */
    void hold(String user) {
        List<Dependents.Dependency> taken = new ArrayList<>();
        try {
            for (Device device : all) {
                taken.add(DependentsAccess.of(Device.class, device).add(user));
            }
        } finally {
            if (taken.size() < all.size()) {
                taken.forEach(Dependents.Dependency::release);
            }
        }
        letGo();
        held = taken;
    }

    /** Ends {@link #hold}. */
    void letGo() {
        held.forEach(Dependents.Dependency::release);
        held = List.of();
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    /** Whether this device was added; two devices opened from one function are the same here. */
    boolean has(Device device) {
        return device == first || isAmong(device);
    }

    private boolean isAmong(Device device) {
        List<Device> now = all;
        for (int i = 0; i < now.size(); i++) {
            Device added = now.get(i);
            if (added == device
                    || (added.machine() == device.machine()
                            && added.info().function().equals(device.info().function()))) {
                return true;
            }
        }
        return false;
    }

    List<Device> list() {
        return all;
    }

    void releaseAll() {
        letGo();
        replace(List.of());
    }

    private void replace(List<Device> others) {
        all = List.copyOf(others);
        first = others.isEmpty() ? null : others.getFirst();
    }
}
