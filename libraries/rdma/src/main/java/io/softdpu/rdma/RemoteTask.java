package io.softdpu.rdma;

import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.Regions;
import io.softdpu.rdma.spi.WorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * Base class of reads and writes, with and without immediate: a source and a destination, one of
 * them over the peer's memory. Both the peer's mmap and the peer's instance have to grant the
 * operation.
 *
 * @param <T> the public type, which setters return
 */
abstract class RemoteTask<T extends Task> extends PeerTask<T> {

    /** The far side of an operation is one range. */
    private static final int REMOTE_LIST_LENGTH = 1;

    private final Permissions right;
    private @Nullable Buf source;
    private @Nullable Buf destination;

    /**
     * @param right the permission that mmap and instance of the peer have to grant
     */
    RemoteTask(RdmaContext rdma, RdmaTasks.Definition<?, T> definition, Permissions right) {
        super(rdma, definition, rdma.maxSendBufferListLength());
        this.right = right;
    }

    public final Buf source() {
        return requireSet(source, "source");
    }

    public final Buf destination() {
        return requireSet(destination, "destination");
    }

    public final T setConnection(RdmaConnection connection) {
        return use(connection, source(), destination());
    }

    public final T setSource(Buf source) {
        return use(connection(), source, destination());
    }

    public final T setDestination(Buf destination) {
        return use(connection(), source(), destination);
    }

    final T use(RdmaConnection newConnection, Buf newSource, Buf newDestination) {
        requireUser();
        Arguments.notNull(newSource, "source");
        Arguments.notNull(newDestination, "destination");
        useConnection(newConnection);
        source = newSource;
        destination = newDestination;
        return self();
    }

    @Override
    protected final @Nullable Refusal onSubmit() {
        Buf from = source();
        Buf to = destination();
        boolean read = request.kind == WorkRequest.Kind.READ;
        Refusal refusal = read ? checkLocal("destination", to) : checkLocal("source", from);
        if (refusal == null) {
            refusal = checkRemote(read ? "source" : "destination", read ? from : to, right);
        }
        long lengthBytes = 0;
        if (refusal == null) {
            lengthBytes = BufLists.dataLength(from);
            refusal = checkLength(from, to, lengthBytes);
        }
        if (refusal == null) {
            refusal = mark(from, to, lengthBytes, read);
        }
        if (refusal != null) {
            return refusal;
        }
        refusal = submit(from, to, lengthBytes, read);
        if (refusal != null) {
            Regions.clearInFlight(from);
            Regions.clearInFlight(to);
        }
        return refusal;
    }

    private @Nullable Refusal checkLength(Buf from, Buf to, long lengthBytes) {
        Refusal refusal = checkLength(from, lengthBytes);
        if (refusal == null && lengthBytes > BufLists.tailroom(to)) {
            refusal = BufLists.tooLittleTailroom("destination", to, lengthBytes);
        }
        return refusal;
    }

    private @Nullable Refusal mark(Buf from, Buf to, long lengthBytes, boolean read) {
        Refusal refusal = Regions.markSource(from, read ? REMOTE_LIST_LENGTH : maxListLength);
        if (refusal != null) {
            return Refusal.with(refusal, "operand=source");
        }
        refusal =
                Regions.markDestination(to, read ? maxListLength : REMOTE_LIST_LENGTH, lengthBytes);
        if (refusal != null) {
            Regions.clearInFlight(from);
        }
        return Refusal.with(refusal, "operand=destination");
    }

    private @Nullable Refusal submit(Buf from, Buf to, long lengthBytes, boolean read) {
        request.resultLengthBytes = 0;
        if (read) {
            setRemote(Regions.remoteOf(from.mmap()), from.dataOffset());
            scatter(to, lengthBytes);
        } else {
            setRemote(Regions.remoteOf(to.mmap()), to.dataOffset() + to.dataLength());
            gather(from, lengthBytes);
        }
        return submitRequest();
    }

    @Override
    final void finish(Status status) {
        Buf to = destination();
        Regions.clearInFlight(source());
        Regions.clearInFlight(to);
        if (status == Status.SUCCESS) {
            BufLists.appendData(to, request.resultLengthBytes);
        }
        complete(status);
    }

    @Override
    protected final void onFree() {
        super.onFree();
        source = null;
        destination = null;
    }
}
