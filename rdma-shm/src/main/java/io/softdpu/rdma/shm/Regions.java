package io.softdpu.rdma.shm;

import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.region.ImportedRegion;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The part of {@link io.softdpu.core.spi.Regions} that connections and senders use. Threads as
 * there; allocates nothing.
 */
final class Regions {
    private static final io.softdpu.core.spi.Regions REGIONS = io.softdpu.core.spi.Regions.get();

    private Regions() {}

    static Bus bus(Device device) {
        return io.softdpu.core.spi.Regions.bus(device);
    }

    static @Nullable ImportedRegion importedRegion(Mmap mmap) {
        return REGIONS.importedRegion(mmap);
    }

    static boolean isMapped(Mmap mmap) {
        return REGIONS.isMapped(mmap);
    }

    static Status checkUse(Mmap mmap, Permissions needed) {
        return REGIONS.checkUse(mmap, needed);
    }

    static MemorySegment segmentOf(Buf buf) {
        return REGIONS.segmentOf(buf);
    }
}
