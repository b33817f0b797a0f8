package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.internal.access.MachineAccess;
import io.softdpu.core.internal.access.MemoryAccess;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.link.EngineWaiter;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.region.LeaseListener;
import org.jspecify.annotations.Nullable;

/**
 * Services for the libraries that are on the bus themselves: Comm Channel, RDMA over shared memory.
 * Apart from {@link ContextServices} and {@link MemoryServices}, so that libraries that know
 * nothing of the bus compile against those. Any thread, except where a method says otherwise.
 */
public final class BusServices {
    private static final MemoryAccess<Mmap, Buf, Permissions, Device> MEMORY =
            MemoryAccess.of(Mmap.class, Buf.class, Permissions.class, Device.class);

    private BusServices() {}

    /** The bus of a device's machine. */
    public static Bus bus(Device device) {
        return MachineAccess.of(Machine.class).bus(device.machine());
    }

    /**
     * Where a context's engine sleeps: add the links whose doorbells are to wake it. The engine's
     * thread.
     */
    public static EngineWaiter waiter(ContextServices services) {
        return services.core().waiter();
    }

    /** The lease behind an imported mmap; null for a local one. Allocates nothing. */
    public static @Nullable ImportedRegion importedRegion(Mmap mmap) {
        return MEMORY.importedRegion(mmap);
    }

    /**
     * Lets a peer of the library import the mmap's memory, apart from what the user exports. The
     * library has checked the permissions. The export ends with {@code close} on it, or when the
     * mmap is stopped.
     *
     * @param device one of the mmap's devices, whose machine exports it
     * @param listener hears of leases, on the bus thread; or null
     * @throws DpuException BAD_STATE if the mmap is not started; NOT_PERMITTED if the device was
     *     not added to it; NOT_SUPPORTED if its memory is not shared, or is exported with the other
     *     kind of access already; NO_MEMORY if too much memory is kept back
     */
    public static ExportedRegion exportFor(
            Mmap mmap, Device device, boolean writable, @Nullable LeaseListener listener) {
        return MEMORY.exportFor(mmap, device, writable, listener);
    }
}
