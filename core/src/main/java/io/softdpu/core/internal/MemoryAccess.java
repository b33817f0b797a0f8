package io.softdpu.core.internal;

import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.fabric.ExportedRegion;
import io.softdpu.fabric.ImportedRegion;
import io.softdpu.fabric.LeaseListener;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** What mmaps and bufs show to the libraries above, through {@code spi.Regions}. */
public abstract class MemoryAccess {
    private static volatile @Nullable MemoryAccess instance;

    /** The one that {@code Mmap} has left. */
    public static MemoryAccess get() {
        return ClassLoading.access(Mmap.class, () -> instance);
    }

    /** Called once, by {@code Mmap}. */
    public static void set(MemoryAccess access) {
        instance = access;
    }

    /** See {@code Regions.checkUse}. */
    public abstract Status checkUse(Mmap mmap, Permissions needed);

    /** See {@code Regions.checkUse}. */
    public abstract Status checkUse(Mmap mmap, Device device, Permissions needed);

    /** The whole range, local or imported; null for an import without a mapping. */
    public abstract @Nullable MemorySegment mapped(Mmap mmap);

    /** The lease behind an imported mmap; null for a local one. */
    public abstract @Nullable ImportedRegion imported(Mmap mmap);

    /** See {@code Regions.exportFor}. */
    public abstract ExportedRegion export(
            Mmap mmap, Device device, boolean writable, @Nullable LeaseListener listener);

    /** See {@code Regions.remoteAddress}. */
    public abstract long address(Mmap mmap);

    /** See {@code Regions.remoteKey}. */
    public abstract int remoteKey(Mmap mmap);

    /** Keeps the mmap from being closed. */
    public abstract void retain(Mmap mmap);

    /** Takes {@link #retain} back. */
    public abstract void release(Mmap mmap);

    /** See {@code Regions.markSource}. */
    public abstract Status markSource(Buf buf, int maxListLength);

    /** See {@code Regions.markDestination}. */
    public abstract Status markDestination(Buf buf, int maxListLength, long atMostBytes);

    /** See {@code Regions.clearInFlight}. */
    public abstract void clearInFlight(Buf buf);

    /** See {@code Regions.appendData}. */
    public abstract void appendData(Buf buf, long sizeBytes);
}
