package io.softdpu.core.memory;

import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.internal.MemoryAccess;
import io.softdpu.fabric.ExportedRegion;
import io.softdpu.fabric.ImportedRegion;
import io.softdpu.fabric.LeaseListener;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** What this package shows to the libraries above; see {@code spi.Regions}. */
final class RegionAccess extends MemoryAccess {
    @Override
    public Status checkUse(Mmap mmap, Permissions needed) {
        return mmap.checkUse(needed);
    }

    @Override
    public Status checkUse(Mmap mmap, Device device, Permissions needed) {
        Status status = mmap.checkUse(needed);
        return status == Status.SUCCESS && !mmap.hasDevice(device) ? Status.NOT_PERMITTED : status;
    }

    @Override
    public @Nullable MemorySegment mapped(Mmap mmap) {
        return mmap.mapped();
    }

    @Override
    public @Nullable ImportedRegion imported(Mmap mmap) {
        MmapOrigin origin = mmap.origin();
        return origin == null ? null : origin.region();
    }

    @Override
    public ExportedRegion export(
            Mmap mmap, Device device, boolean writable, @Nullable LeaseListener listener) {
        synchronized (mmap) {
            return mmap.exports().forLibrary(device, writable, listener);
        }
    }

    @Override
    public long address(Mmap mmap) {
        mmap.requireStarted();
        return mmap.exports().address();
    }

    @Override
    public int remoteKey(Mmap mmap) {
        MmapOrigin origin = mmap.origin();
        if (origin != null && origin.byRdma()) {
            return origin.descriptor().remoteKey();
        }
        synchronized (mmap) {
            return mmap.exports().remoteKey();
        }
    }

    @Override
    public void retain(Mmap mmap) {
        mmap.retainUser();
    }

    @Override
    public void release(Mmap mmap) {
        mmap.releaseUser();
    }

    @Override
    public Status markSource(Buf buf, int maxListLength) {
        return buf.markSource(maxListLength);
    }

    @Override
    public Status markDestination(Buf buf, int maxListLength, long atMostBytes) {
        return buf.markDestination(maxListLength, atMostBytes);
    }

    @Override
    public void clearInFlight(Buf buf) {
        buf.clearInFlight();
    }

    @Override
    public void appendData(Buf buf, long sizeBytes) {
        buf.appendData(sizeBytes);
    }
}
