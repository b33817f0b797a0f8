package io.softdpu.rdma.shm;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.rdma.spi.LocalList;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Access to the mapped memory of a connection's peer: its check, the copies of reads and writes,
 * and the atomic operations. After each change it tells the memory, which wakes those who wait for
 * a sync event: not at the completion, which may wait for the peer's program. Memory that was
 * revoked ends the connection.
 *
 * <p>Belongs to the engine's thread. Allocates nothing, unless the connection ends.
 */
final class RemoteAccess {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final ShmConnection connection;
    private final Copier copier;

    RemoteAccess(ShmConnection connection, Copier copier) {
        this.connection = connection;
        this.copier = copier;
    }

    /**
     * Checks that memory is mapped and was exported by the bus that has exported the peer's ring: a
     * network adapter would not reach another machine's memory through a connection either.
     */
    static @Nullable Refusal check(RemoteMemory memory, RegionAddress.@Nullable Id peer) {
        if (!BusServices.isOnBus(memory)) {
            return Refusal.of(
                    Status.NOT_PERMITTED,
                    "remote memory belongs to a process of another kernel or fabric folder than the"
                            + " peer: memory=%s, provider=shm, expected=memory that the peer of the"
                            + " connection has exported",
                    memory);
        }
        if (peer == null || memory.memory() == null) {
            return Refusal.of(
                    Status.NOT_SUPPORTED,
                    "remote memory is not mapped here: memory=%s, expected=an import with"
                            + " Mapping.ACCESS",
                    memory);
        }
        return BusServices.exporterOf(memory).equals(peer)
                ? null
                : Refusal.of(
                        Status.NOT_PERMITTED,
                        "remote memory belongs to another process than the peer: memory=%s,"
                                + " expected=memory that the peer of the connection has exported",
                        memory);
    }

    /** Copies within the budget; returns whether all has been copied. */
    boolean copy(WorkRequest request, long budget) {
        boolean read = request.kind == WorkRequest.Kind.READ;
        MemorySegment remote = remoteOf(request);
        if (remote == null) {
            return false;
        }
        LocalList local = request.local;
        long length = request.lengthBytes;
        if (length == Long.BYTES && isWholeWord(request)) {
            copyWord(request, remote, read);
            return true;
        }
        long left = Math.min(budget, length - request.progressBytes);
        while (left > 0) {
            long piece = Math.min(left, local.pieceBytes());
            long at = request.remoteOffset + request.progressBytes;
            if (read) {
                copier.payload(remote, at, local.piece(), local.pieceOffset(), piece);
            } else {
                copier.payload(local.piece(), local.pieceOffset(), remote, at, piece);
            }
            local.advance(piece);
            request.progressBytes += piece;
            left -= piece;
        }
        boolean done = request.progressBytes == length;
        if (done && !read) {
            changed(request);
        }
        return done;
    }

    /**
     * Whether eight bytes are aligned there, and in one element here. Imported memory begins at a
     * page, so that the offset tells the alignment. An earlier pass may have filled an element.
     */
    private static boolean isWholeWord(WorkRequest request) {
        return request.progressBytes == 0
                && request.local.pieceBytes() >= Long.BYTES
                && (request.remoteOffset & (Long.BYTES - 1)) == 0;
    }

    private void copyWord(WorkRequest request, MemorySegment remote, boolean read) {
        LocalList local = request.local;
        if (read) {
            copier.loadWord(remote, request.remoteOffset, local.piece(), local.pieceOffset());
        } else {
            copier.storeWord(local.piece(), local.pieceOffset(), remote, request.remoteOffset);
            changed(request);
        }
        request.progressBytes = Long.BYTES;
    }

    /** Executes an atomic operation; returns whether it was executed. */
    boolean update(WorkRequest request) {
        MemorySegment remote = remoteOf(request);
        if (remote == null) {
            return false;
        }
        long before =
                request.kind == WorkRequest.Kind.FETCH_AND_ADD
                        ? (long) LONG.getAndAdd(remote, request.remoteOffset, request.operand)
                        : (long)
                                LONG.compareAndExchange(
                                        remote,
                                        request.remoteOffset,
                                        request.operand,
                                        request.swap);
        LocalList local = request.local;
        local.piece().set(ValueLayout.JAVA_LONG_UNALIGNED, local.pieceOffset(), before);
        request.progressBytes = Long.BYTES;
        changed(request);
        return true;
    }

    private static void changed(WorkRequest request) {
        Objects.requireNonNull(request.remote, "the peer's memory").changed();
    }

    /** The peer's memory, mapped; null if it was revoked, which ends the connection. */
    private @Nullable MemorySegment remoteOf(WorkRequest request) {
        RemoteMemory memory = Objects.requireNonNull(request.remote, "the peer's memory");
        Refusal refusal = memory.checkAlive();
        if (refusal == null) {
            return Objects.requireNonNull(memory.memory(), "checked at submission");
        }
        connection.end(CloseReason.REMOTE_MEMORY_REVOKED, refusal.status(), refusal.message());
        return null;
    }
}
