package io.softdpu.core.memory;

import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.internal.access.MemoryAccess;
import io.softdpu.core.spi.memory.Grant;
import io.softdpu.core.spi.memory.MemoryKey;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.LeaseListener;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Access of the libraries above to internals of this package. */
final class RegionAccess extends MemoryAccess<Mmap, Buf, Permissions, Device> {
    private RegionAccess() {
        super(Mmap.class, Buf.class, Permissions.class, Device.class);
    }

    /** Called once, by {@code Mmap}. */
    static void install() {
        install(new RegionAccess());
    }

    @Override
    public @Nullable Refusal checkUse(Mmap mmap, Permissions needed) {
        return mmap.checkUse(needed);
    }

    @Override
    public @Nullable Refusal checkUse(Mmap mmap, Device device, Permissions needed) {
        Refusal refusal = mmap.checkUse(needed);
        return refusal == null ? mmap.checkDevice(device) : refusal;
    }

    @Override
    public @Nullable Grant grantOf(Mmap mmap) {
        return mmap.grant();
    }

    @Override
    public @Nullable MemorySegment mapped(Mmap mmap) {
        return mmap.mapped();
    }

    @Override
    public RemoteMemory remoteOf(Mmap mmap) {
        return Objects.requireNonNull(mmap.origin(), "an import");
    }

    @Override
    public MemoryKey rdmaKeyOf(Mmap mmap, Device device) {
        synchronized (mmap) {
            return mmap.exports().rdmaKey(device);
        }
    }

    @Override
    public Mmap importByKey(
            Device device,
            byte[] gid,
            long address,
            int key,
            long sizeBytes,
            Permissions permissions) {
        return MmapImport.byKey(device, gid, address, key, sizeBytes, permissions);
    }

    @Override
    public ExportedRegion exportFor(
            Mmap mmap, Device device, boolean writable, @Nullable LeaseListener listener) {
        synchronized (mmap) {
            return mmap.exports().forLibrary(device, writable, listener);
        }
    }

    @Override
    public void retain(Mmap mmap) {
        mmap.retainContext();
    }

    @Override
    public void release(Mmap mmap) {
        mmap.releaseContext();
    }

    @Override
    public @Nullable Refusal markSource(Buf list, int maxListLength) {
        return list.markSource(maxListLength);
    }

    @Override
    public @Nullable Refusal markDestination(Buf list, int maxListLength, long atMostBytes) {
        return list.markDestination(maxListLength, atMostBytes);
    }

    @Override
    public void clearInFlight(Buf list) {
        list.clearInFlight();
    }

    @Override
    public void appendData(Buf buf, long sizeBytes) {
        buf.appendData(sizeBytes);
    }
}
