package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.internal.access.MachineAccess;
import io.softdpu.core.internal.access.MemoryAccess;
import io.softdpu.core.internal.access.SharedMemoryAccess;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.spi.bus.ExportedMemory;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.link.EventPoller;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.LeaseListener;
import io.softdpu.fabric.wire.RegionAddress;
import org.jspecify.annotations.Nullable;

/**
 * Services for libraries that use the bus themselves: Comm Channel, sync events, RDMA over shared
 * memory. Separate from {@link ContextServices} and {@link Regions}, so that libraries without the
 * bus compile against those. Any thread, unless a method says otherwise.
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
     * The poller in which a context's engine sleeps: add the links whose doorbells wake it. The
     * engine's thread.
     */
    public static EventPoller poller(ContextServices services) {
        return services.impl().poller();
    }

    /**
     * The poller in which a job queue's work queue sleeps: add the links whose doorbells wake it.
     * In event-driven mode, so inside {@link JobQueue#onArm}; the queue's thread.
     */
    public static EventPoller poller(JobQueue jobQueue) {
        return jobQueue.poller();
    }

    /**
     * The bus that has exported a peer's memory. Two memories of the same bus come from the same
     * peer. Allocates nothing.
     */
    public static RegionAddress.Id exporterOf(RemoteMemory memory) {
        return ((ExportedMemory) memory).exporter();
    }

    /**
     * Whether a peer's memory was exported by a process of this kernel and fabric folder. Allocates
     * nothing.
     */
    public static boolean isOnBus(RemoteMemory memory) {
        return ((ExportedMemory) memory).isOnBus();
    }

    /** The segment of memory, which stays open while the library holds the memory. */
    public static SharedSegment segmentOf(SharedMemory memory) {
        return SharedMemoryAccess.of(SharedMemory.class).shared(memory);
    }

    /**
     * Exports the mmap's memory to a peer of the library, independently of exports by the user. The
     * library has checked the permissions. The export ends when it is closed or the mmap is
     * stopped.
     *
     * @param device one of the mmap's devices, whose machine exports it
     * @param listener listener for leases, on the bus thread; or null
     * @throws DpuException BAD_STATE if the mmap is not started; NOT_PERMITTED if the device was
     *     not added to it; NOT_SUPPORTED if its memory is not shared, or is exported with the other
     *     access already; NO_MEMORY if too much memory is retained
     */
    public static ExportedRegion exportFor(
            Mmap mmap, Device device, boolean writable, @Nullable LeaseListener listener) {
        return MEMORY.exportFor(mmap, device, writable, listener);
    }
}
