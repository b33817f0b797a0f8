package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.MemoryServices;
import io.softdpu.core.spi.TaskBase;
import io.softdpu.core.spi.memory.Regions;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the RDMA tasks: the work request for the provider, and the checks of local bufs,
 * which follow the guide's table of permissions strictly.
 */
abstract class RdmaTask extends TaskBase {
    private static final Regions<Mmap, Buf, Permissions, Device> REGIONS = MemoryServices.regions();

    /** Longest buf list of a task: a work request has one contiguous memory range. */
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

    /** The provider has completed the request; the bufs belong to the user again. */
    abstract void finish(Status status);

    /**
     * Checks whether a local buf may be used: its mmap has this device and may be read and written.
     * Memory that was imported over PCIe counts as local memory.
     *
     * @param operand its name in the task: {@code source}
     */
    final @Nullable Refusal checkLocal(String operand, Buf buf) {
        if (buf.references() == 0) {
            return BufLists.released(operand, buf);
        }
        Mmap mmap = buf.mmap();
        if (mmap.isImported() && !REGIONS.isMapped(mmap)) {
            return notMapped(operand, buf);
        }
        Refusal refusal =
                REGIONS.checkUse(mmap, rdma.device(), mmap.isImported() ? OVER_PCI : LOCAL);
        return refusal == null ? null : Refusal.with(refusal, "operand=" + operand);
    }

    private static Refusal notMapped(String operand, Buf buf) {
        return Refusal.of(
                Status.NOT_SUPPORTED,
                "mmap was imported without a mapping, for re-export only: %s=%s, expected=an import"
                        + " with Mapping.ACCESS",
                operand,
                buf);
    }

    /** Checks that a message is not longer than the device supports. */
    final @Nullable Refusal checkLength(Buf source) {
        return source.dataLength() > rdma.maxMessageBytes()
                ? BufLists.tooMuchData("source", source, rdma.maxMessageBytes())
                : null;
    }

    /** Sets the local part of the request: bytes from an offset within the buf's mmap. */
    final void setLocal(@Nullable Buf buf, long offset, long lengthBytes) {
        request.local = buf == null ? MemorySegment.NULL : REGIONS.segmentOf(buf);
        request.localOffset = offset;
        request.lengthBytes = lengthBytes;
    }

    /** The value of a property; throws BAD_STATE if the task was freed, which clears it. */
    final <T> T requireSet(@Nullable T value, String what) {
        if (value == null) {
            throw new DpuException(
                    Status.BAD_STATE, "task was freed: item=%s, context=%s".formatted(what, rdma));
        }
        return value;
    }

    static @Nullable Refusal submit(RdmaConnection connection, WorkRequest request) {
        ProviderConnection providerConnection = connection.selected();
        if (providerConnection == null || connection.state() != RdmaConnection.State.CONNECTED) {
            return connection.notConnected();
        }
        return providerConnection.submit(request);
    }
}
