package io.softdpu.rdma;

import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.MemoryServices;
import io.softdpu.core.spi.memory.Regions;
import io.softdpu.rdma.spi.WorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * Base class of reads and writes: a source and a destination, one of them over the peer's memory.
 * Both the peer's mmap and the peer's instance have to grant the operation.
 */
abstract class RemoteTask extends RdmaTask {
    private static final Regions<Mmap, Buf, Permissions, Device> REGIONS = MemoryServices.regions();

    private final Permissions right;
    private @Nullable RdmaConnection connection;
    private @Nullable Buf source;
    private @Nullable Buf destination;

    /**
     * @param right the permission that mmap and instance of the peer have to grant
     */
    RemoteTask(RdmaContext rdma, WorkRequest.Kind kind, Permissions right) {
        super(rdma, kind);
        this.right = right;
    }

    public final RdmaConnection connection() {
        return requireSet(connection, "connection");
    }

    public final Buf source() {
        return requireSet(source, "source");
    }

    public final Buf destination() {
        return requireSet(destination, "destination");
    }

    final void use(RdmaConnection newConnection, Buf newSource, Buf newDestination) {
        requireUser();
        rdma.requireOwn(newConnection);
        Arguments.notNull(newSource, "source");
        Arguments.notNull(newDestination, "destination");
        connection = newConnection;
        source = newSource;
        destination = newDestination;
    }

    @Override
    protected final Status onSubmit() {
        Buf from = source();
        Buf to = destination();
        boolean read = request.kind == WorkRequest.Kind.READ;
        Status allowed = checkLocal(read ? to : from);
        if (allowed == Status.SUCCESS) {
            allowed = checkRemote(read ? from : to);
        }
        if (allowed != Status.SUCCESS) {
            return allowed;
        }
        long lengthBytes = from.dataLength();
        if (lengthBytes > rdma.maxMessageSize() || lengthBytes > to.tailroom()) {
            return Status.INVALID_VALUE;
        }
        Status marked = REGIONS.markSource(from, MAX_LIST_LENGTH);
        if (marked != Status.SUCCESS) {
            return marked;
        }
        marked = REGIONS.markDestination(to, MAX_LIST_LENGTH, lengthBytes);
        if (marked != Status.SUCCESS) {
            REGIONS.clearInFlight(from);
            return marked;
        }
        Status submitted = submit(from, to, lengthBytes, read);
        if (submitted != Status.SUCCESS) {
            REGIONS.clearInFlight(from);
            REGIONS.clearInFlight(to);
        }
        return submitted;
    }

    private Status checkRemote(Buf remote) {
        if (remote.references() == 0) {
            return Status.BAD_STATE;
        }
        Mmap mmap = remote.mmap();
        // Only an RDMA import refers to the peer's memory; it alone has no PCIe permissions.
        if (!mmap.isImported() || mmap.permissions().allowsPci()) {
            return Status.INVALID_VALUE;
        }
        Status mmapGrants = REGIONS.checkUse(mmap, rdma.device(), right);
        if (mmapGrants != Status.SUCCESS) {
            return mmapGrants;
        }
        return connection().peerPermissions().grants(right) ? Status.SUCCESS : Status.NOT_PERMITTED;
    }

    private Status submit(Buf from, Buf to, long lengthBytes, boolean read) {
        long fromOffset = from.dataOffset();
        long toOffset = to.dataOffset() + to.dataLength();
        request.resultLengthBytes = 0;
        request.remote = read ? from : to;
        request.remoteOffset = read ? fromOffset : toOffset;
        setLocal(read ? to : from, read ? toOffset : fromOffset, lengthBytes);
        return submit(connection(), request);
    }

    @Override
    final void finish(Status status) {
        Buf to = destination();
        REGIONS.clearInFlight(source());
        REGIONS.clearInFlight(to);
        if (status == Status.SUCCESS) {
            REGIONS.appendData(to, request.resultLengthBytes);
        }
        complete(status);
    }

    @Override
    protected final String submissionDetails() {
        return BufLists.describe("source", source, MAX_LIST_LENGTH)
                + BufLists.describe("destination", destination, MAX_LIST_LENGTH);
    }

    @Override
    protected final void onFree() {
        connection = null;
        source = null;
        destination = null;
        request.remote = null;
    }
}
