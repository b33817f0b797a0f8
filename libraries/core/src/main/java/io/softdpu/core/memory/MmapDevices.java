package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.internal.access.UsageAccess;
import io.softdpu.core.internal.base.Usage;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The devices of one mmap, each kept open. Changed under the lock of the mmap and only while it is
 * IDLE; tasks look at them without it, on any thread, and see those before a change or after it.
 */
@SuppressWarnings("ReferenceEquality") // devices and machines are objects, not values
final class MmapDevices {
    private record Attached(Device device, Usage.Hold hold) {}

    /** Replaced, never changed. */
    private volatile List<Attached> all = List.of();

    /** The first of them, which mostly is the one that is asked for, and that for each task. */
    private @Nullable Device first;

    private int max = Mmap.DEFAULT_MAX_DEVICES;

    int max() {
        return max;
    }

    void setMax(int newMax) {
        if (newMax < 1 || newMax < all.size()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "number of devices out of range: maxDevices=%d, least=1, devices=%d"
                            .formatted(newMax, all.size()));
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
                        "devices of two machines: device=%s, machine=%s, otherMachine=%s"
                                .formatted(device, device.machine(), attached.device.machine()));
            }
        }
        if (all.size() == max) {
            throw new DpuException(
                    Status.NO_MEMORY,
                    "mmap has as many devices as it may have: device=%s, maxDevices=%d"
                            .formatted(device, max));
        }
        addHeld(device, UsageAccess.of(Device.class, device).hold("mmap"));
    }

    /** Adds the one device of an import, which is kept open already. */
    void addHeld(Device device, Usage.Hold hold) {
        List<Attached> more = new ArrayList<>(all);
        more.add(new Attached(device, hold));
        replace(more);
    }

    void remove(Device device) {
        for (Attached attached : all) {
            if (attached.device == device) {
                List<Attached> fewer = new ArrayList<>(all);
                fewer.remove(attached);
                replace(fewer);
                attached.hold.release();
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
        all.forEach(attached -> attached.hold.release());
        replace(List.of());
    }

    private void replace(List<Attached> others) {
        all = List.copyOf(others);
        first = others.isEmpty() ? null : others.getFirst().device;
    }
}
