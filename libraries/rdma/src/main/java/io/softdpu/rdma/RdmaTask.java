package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.MemoryServices;
import io.softdpu.core.spi.TaskBase;
import io.softdpu.core.spi.memory.Regions;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * What the tasks share: the request that goes to the provider, and the checks of a local buf, which
 * are those of the guide's table of permissions, strictly.
 */
abstract class RdmaTask extends TaskBase {
    private static final Regions<Mmap, Buf, Permissions, Device> REGIONS = MemoryServices.regions();

    /** Longest list of bufs that a task takes: a provider is given one piece of memory. */
    static final int MAX_LIST_LENGTH = 1;

    private static final Permissions LOCAL = Permissions.LOCAL_READ_WRITE;
    private static final Permissions OVER_PCI = Permissions.of(AccessFlag.PCI_READ_WRITE);

    final RdmaContext rdma;
    final WorkRequest request;

    RdmaTask(RdmaContext rdma, WorkRequest.Kind kind) {
        super(rdma);
        this.rdma = rdma;
        this.request = new WorkRequest(kind, this);
    }

    /** The provider has done with the request; bufs are the user's from here on. */
    abstract void finish(Status status);

    /**
     * Whether a local buf may be used: it belongs to this device and may be read and written.
     * Memory that was imported over PCIe is as good as local memory.
     */
    final Status checkLocal(Buf buf) {
        if (buf.references() == 0) {
            return Status.BAD_STATE;
        }
        Mmap mmap = buf.mmap();
        if (!mmap.isImported()) {
            return REGIONS.checkUse(mmap, rdma.device(), LOCAL);
        }
        if (!REGIONS.isMapped(mmap)) {
            return Status.NOT_SUPPORTED;
        }
        return REGIONS.checkUse(mmap, rdma.device(), OVER_PCI);
    }

    /** Puts the local half of the request down: bytes from an offset within the buf's mmap. */
    final void setLocal(@Nullable Buf buf, long offset, long lengthBytes) {
        request.local = buf == null ? MemorySegment.NULL : REGIONS.segmentOf(buf);
        request.localOffset = offset;
        request.lengthBytes = lengthBytes;
    }

    /** What was set up; a task that was freed has nothing any more. */
    final <T> T requireSet(@Nullable T value, String what) {
        if (value == null) {
            throw new DpuException(
                    Status.BAD_STATE, "task was freed: item=%s, context=%s".formatted(what, rdma));
        }
        return value;
    }

    static Status submit(RdmaConnection connection, WorkRequest request) {
        ProviderConnection half = connection.chosen();
        if (half == null || connection.state() != RdmaConnection.State.CONNECTED) {
            return Status.NOT_CONNECTED;
        }
        return half.submit(request);
    }
}
