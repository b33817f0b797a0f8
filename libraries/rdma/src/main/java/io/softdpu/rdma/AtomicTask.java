package io.softdpu.rdma;

import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.Regions;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the atomic operations: eight bytes of the peer's memory, and a local buf for the
 * value before.
 *
 * @param <T> the public type, which setters return
 */
abstract class AtomicTask<T extends Task> extends PeerTask<T> {
    private static final Permissions RIGHT = Permissions.of(AccessFlag.RDMA_ATOMIC);

    /** Both bufs are single ones. */
    private static final int LIST_LENGTH = 1;

    private @Nullable Buf destination;
    private @Nullable Buf result;

    AtomicTask(RdmaContext rdma, RdmaTasks.Definition<?, T> definition) {
        super(rdma, definition, LIST_LENGTH);
    }

    public final Buf destination() {
        return requireSet(destination, "destination");
    }

    public final Buf result() {
        return requireSet(result, "result");
    }

    public final T setConnection(RdmaConnection connection) {
        return use(connection, destination(), result());
    }

    public final T setDestination(Buf destination) {
        return use(connection(), destination, result());
    }

    public final T setResult(Buf result) {
        return use(connection(), destination(), result);
    }

    final T use(RdmaConnection newConnection, Buf newDestination, Buf newResult) {
        requireUser();
        Arguments.notNull(newDestination, "destination");
        Arguments.notNull(newResult, "result");
        useConnection(newConnection);
        destination = newDestination;
        result = newResult;
        return self();
    }

    @Override
    protected final @Nullable Refusal onSubmit() {
        Buf there = destination();
        Buf here = result();
        Refusal refusal = checkLocal("result", here);
        if (refusal == null) {
            refusal = checkRemote("destination", there, RIGHT);
        }
        if (refusal == null) {
            refusal = checkPlaces(there, here);
        }
        if (refusal == null) {
            refusal = mark(there, here);
        }
        if (refusal != null) {
            return refusal;
        }
        request.resultLengthBytes = 0;
        setRemote(Regions.remoteOf(there.mmap()), there.dataOffset());
        scatter(here, Long.BYTES);
        refusal = submitRequest();
        if (refusal != null) {
            Regions.clearInFlight(there);
            Regions.clearInFlight(here);
        }
        return refusal;
    }

    private static @Nullable Refusal checkPlaces(Buf there, Buf here) {
        if (there.dataLength() + there.tailroom() < Long.BYTES) {
            return Refusal.of(
                    Status.INVALID_VALUE,
                    "buf has too few bytes for an atomic operation: destination=%s, expected=%d"
                            + " bytes from its data offset",
                    there,
                    Long.BYTES);
        }
        if ((there.dataOffset() & (Long.BYTES - 1)) != 0) { // exported memory begins at a page
            return Refusal.of(
                    Status.INVALID_VALUE,
                    "address of an atomic operation is not aligned: destination=%s, expected=a data"
                            + " offset that is a multiple of %d",
                    there,
                    Long.BYTES);
        }
        return here.tailroom() < Long.BYTES
                ? BufLists.tooLittleTailroom("result", here, Long.BYTES)
                : null;
    }

    private static @Nullable Refusal mark(Buf there, Buf here) {
        Refusal refusal = Regions.markDestination(there, LIST_LENGTH, 0);
        if (refusal != null) {
            return Refusal.with(refusal, "operand=destination");
        }
        refusal = Regions.markDestination(here, LIST_LENGTH, Long.BYTES);
        if (refusal != null) {
            Regions.clearInFlight(there);
        }
        return Refusal.with(refusal, "operand=result");
    }

    @Override
    final void finish(Status status) {
        Buf here = result();
        Regions.clearInFlight(destination());
        Regions.clearInFlight(here);
        if (status == Status.SUCCESS) {
            Regions.appendData(here, Long.BYTES);
        } else {
            connection().atomicFailed(status);
        }
        complete(status);
    }

    @Override
    protected final void onFree() {
        super.onFree();
        destination = null;
        result = null;
    }
}
