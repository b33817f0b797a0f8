package io.softdpu.core.spi;

import io.softdpu.core.device.Device;
import io.softdpu.core.internal.access.MemoryAccess;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.memory.Regions;

/** Access of libraries to memory. */
public final class MemoryServices {
    private static final Regions<Mmap, Buf, Permissions, Device> REGIONS =
            MemoryAccess.of(Mmap.class, Buf.class, Permissions.class, Device.class);

    private MemoryServices() {}

    /** The only instance; valid before any mmap or buf was used. Any thread. */
    public static Regions<Mmap, Buf, Permissions, Device> regions() {
        return REGIONS;
    }
}
