package io.softdpu.rdma;

import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.Regions;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.core.sync.spi.RemoteEvents;
import io.softdpu.rdma.spi.LocalList;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the tasks on remote sync events: a counter of eight bytes, which the provider
 * accesses as memory of the peer, and a local list with or for the value. The provider wakes those
 * who wait for the event as soon as it has executed an update.
 *
 * @param <T> the public type, which setters return
 */
abstract class RemoteEventTask<T extends Task> extends PeerTask<T> {

    private final Permissions right;
    private final String operand;
    private @Nullable RemoteSyncEvent event;
    private @Nullable Buf local;

    /**
     * The value, if it is in several elements of the list: the counter is accessed in one piece.
     */
    private final MemorySegment word;

    private boolean isSpread;

    /**
     * @param right the permission that the peer's instance has to grant
     * @param operand name of the local list: {@code source}
     * @param maxListLength limit of its elements
     */
    RemoteEventTask(
            RdmaContext rdma,
            RdmaTasks.Definition<?, T> definition,
            Permissions right,
            String operand,
            int maxListLength) {
        super(rdma, definition, maxListLength);
        this.right = right;
        this.operand = operand;
        this.word = maxListLength == 1 ? MemorySegment.NULL : MemorySegment.ofArray(new long[1]);
    }

    public final RemoteSyncEvent event() {
        return requireSet(event, "event");
    }

    final Buf local() {
        return requireSet(local, operand);
    }

    public final T setConnection(RdmaConnection connection) {
        return use(connection, event(), local());
    }

    public final T setEvent(RemoteSyncEvent event) {
        return use(connection(), event, local());
    }

    final T use(RdmaConnection newConnection, RemoteSyncEvent newEvent, Buf newLocal) {
        requireUser();
        Arguments.notNull(newEvent, "event");
        Arguments.notNull(newLocal, operand);
        useConnection(newConnection);
        event = newEvent;
        local = newLocal;
        return self();
    }

    @Override
    protected final @Nullable Refusal onSubmit() {
        Buf here = local();
        Refusal refusal = checkLocal(operand, here);
        if (refusal == null) {
            refusal = checkInstance(right);
        }
        if (refusal == null) {
            refusal = checkBytes(here);
        }
        if (refusal == null) {
            refusal = Refusal.with(RemoteEvents.mark(event(), rdma.device()), "operand=event");
        }
        if (refusal != null) {
            return refusal;
        }
        refusal = submitMarked(here);
        if (refusal != null) {
            RemoteEvents.clear(event());
        }
        return refusal;
    }

    private @Nullable Refusal checkBytes(Buf here) {
        if (request.kind != WorkRequest.Kind.WRITE) {
            return BufLists.tailroom(here) < Long.BYTES
                    ? BufLists.tooLittleTailroom(operand, here, Long.BYTES)
                    : null;
        }
        long lengthBytes = BufLists.dataLength(here);
        return lengthBytes == Long.BYTES
                ? null
                : Refusal.of(
                        Status.INVALID_VALUE,
                        "value of a sync event has another length: source=%s, lengthBytes=%d,"
                                + " expected=%d",
                        here,
                        lengthBytes,
                        Long.BYTES);
    }

    private @Nullable Refusal submitMarked(Buf here) {
        Refusal refusal =
                request.kind == WorkRequest.Kind.WRITE
                        ? Regions.markSource(here, maxListLength)
                        : Regions.markDestination(here, maxListLength, Long.BYTES);
        if (refusal != null) {
            return Refusal.with(refusal, "operand=" + operand);
        }
        request.resultLengthBytes = 0;
        setRemote(RemoteEvents.counterOf(event()), 0);
        if (request.kind == WorkRequest.Kind.WRITE) {
            gather(here, Long.BYTES);
        } else {
            scatter(here, Long.BYTES);
        }
        LocalList list = request.local;
        isSpread = list.length(0) < Long.BYTES;
        if (isSpread) {
            if (request.kind == WorkRequest.Kind.WRITE) {
                joinWord(list);
            }
            list.clear();
            list.add(word, 0, Long.BYTES);
        }
        refusal = submitRequest();
        if (refusal != null) {
            Regions.clearInFlight(here);
        }
        return refusal;
    }

    /** Copies the value out of the elements of the list. */
    private void joinWord(LocalList list) {
        long at = 0;
        for (int i = 0; i < list.count(); i++) {
            MemorySegment.copy(list.segment(i), list.offset(i), word, at, list.length(i));
            at += list.length(i);
        }
    }

    /** Copies the value into the tailrooms of the list. */
    private void spreadWord(Buf list) {
        long at = 0;
        for (@Nullable Buf element = list;
                element != null && at < Long.BYTES;
                element = element.nextInList()) {
            long piece = Math.min(Long.BYTES - at, element.tailroom());
            MemorySegment.copy(
                    word,
                    at,
                    Regions.segmentOf(element),
                    element.dataOffset() + element.dataLength(),
                    piece);
            at += piece;
        }
    }

    @Override
    final void finish(Status status) {
        Buf here = local();
        Regions.clearInFlight(here);
        if (status == Status.SUCCESS && request.kind != WorkRequest.Kind.WRITE) {
            if (isSpread) {
                spreadWord(here);
            }
            BufLists.appendData(here, Long.BYTES);
        }
        RemoteEvents.clear(event());
        if (status != Status.SUCCESS && request.kind == WorkRequest.Kind.FETCH_AND_ADD) {
            connection().atomicFailed(status);
        }
        complete(status);
    }

    @Override
    protected final void onFree() {
        super.onFree();
        event = null;
        local = null;
    }
}
