package io.softdpu.fabric.memory;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.thread.BusThreads;
import io.softdpu.fabric.thread.MappingWorkers;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.LinuxException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Maps memory of a peer and populates it, slice by slice, on a {@linkplain MappingWorkers mapping
 * worker}.
 *
 * <p>The descriptor was examined when it arrived ({@link DescriptorCheck}), but the peer can punch
 * holes into the file afterwards, and populating a hole allocates it at this process's cost. So the
 * blocks are counted again right before each slice is populated. A peer that wins that race costs
 * one slice, and the total that it can cost was counted beforehand ({@link MappedBytes}).
 */
public final class PeerMapping implements MappingWorkers.Task {
    private final BusThreads threads;
    private final int descriptor;
    private final long sizeBytes;
    private final boolean writable;
    private final long examinedBytes;
    private final MappedBytes.Reservation reservation;
    private final Runnable gone;
    private final CompletableFuture<SharedSegment> result = new CompletableFuture<>();
    private @Nullable SharedSegment memory;
    private long populatedBytes;

    private PeerMapping(
            BusThreads threads,
            ExaminedMemory part,
            MappedBytes.Reservation reservation,
            Runnable gone) {
        this.threads = threads;
        this.descriptor = part.descriptor();
        this.sizeBytes = part.sizeBytes();
        this.writable = part.writable();
        this.examinedBytes = part.allocatedBytes();
        this.reservation = reservation;
        this.gone = gone;
    }

    /**
     * Begins a mapping.
     *
     * @param threads of the bus
     * @param account of the memory that the bus has mapped
     * @param peerPid process id of the peer, for its limit and its queue
     * @param part the examined memory; its descriptor is taken over, even if this fails
     * @param gone runs if this fails or is cancelled, when nothing of the part is mapped any more
     * @return completes on the bus thread, with memory that is the caller's to release; cancelling
     *     it ends the attempt
     */
    public static CompletableFuture<SharedSegment> begin(
            BusThreads threads,
            MappedBytes account,
            int peerPid,
            ExaminedMemory part,
            Runnable gone) {
        MappedBytes.Reservation reservation;
        try {
            if (!threads.workers().hasCapacity(peerPid)) {
                throw new FabricException(
                        FabricException.Kind.LIMIT,
                        "too much memory of a peer waits to be mapped: peerPid="
                                + peerPid
                                + ", limit="
                                + MappingWorkers.WAITING_LIMIT);
            }
            reservation = account.reserve(peerPid, part.sizeBytes());
        } catch (FabricException e) {
            threads.closer().closeRefused(part.descriptor());
            gone.run();
            return CompletableFuture.failedFuture(e);
        }
        PeerMapping mapping = new PeerMapping(threads, part, reservation, gone);
        threads.workers().submit(peerPid, mapping);
        return mapping.result;
    }

    @Override
    public boolean runSlice() {
        try {
            if (result.isDone()) { // cancelled
                discard();
                return false;
            }
            if (threads.closed()) {
                throw new FabricException(
                        FabricException.Kind.CLOSED,
                        "bus closed while memory of a peer was mapped: sizeBytes=" + sizeBytes);
            }
            if (mapNextSlice()) {
                return true;
            }
        } catch (RuntimeException e) {
            discard();
            fail(e instanceof LinuxException linux ? notMapped(linux) : e);
            return false;
        } catch (Error e) { // reported to the waiting caller and to the log
            discard();
            fail(e);
            throw e;
        }
        threads.loop().execute(this::complete);
        return false;
    }

    private boolean mapNextSlice() {
        SharedSegment mapped = memory;
        if (mapped == null) {
            mapped = SharedSegment.map(descriptor, sizeBytes, writable, reservation);
            memory = mapped;
        }
        requireBlocks();
        populatedBytes = mapped.populate(populatedBytes, MappingWorkers.SLICE_BYTES, writable);
        return populatedBytes < sizeBytes;
    }

    private void requireBlocks() {
        long allocatedBytes = FileDescriptors.status(descriptor).allocatedBytes();
        if (allocatedBytes < examinedBytes) {
            throw new FabricException(
                    FabricException.Kind.MALFORMED,
                    "memory refused, its blocks vanished after it was examined: peerPid="
                            + reservation.peerPid()
                            + ", allocatedBytes="
                            + allocatedBytes
                            + ", expected="
                            + examinedBytes
                            + ", mappedBytes="
                            + populatedBytes);
        }
    }

    /** Releases what was mapped; on a worker, which may unmap. */
    private void discard() {
        SharedSegment mapped = memory;
        memory = null;
        if (mapped != null) {
            mapped.release(threads, gone);
        } else {
            reservation.release();
            threads.closer().closeRefused(descriptor);
            gone.run();
        }
    }

    private void complete() {
        SharedSegment mapped = memory;
        if (mapped != null && !result.complete(mapped)) {
            mapped.release(threads, gone);
        }
    }

    private void fail(Throwable failure) {
        threads.loop()
                .execute(() -> {
                    boolean _ = result.completeExceptionally(failure);
                });
    }

    private static FabricException notMapped(LinuxException cause) {
        return new FabricException(
                SharedSegment.outOfMemory(cause)
                        ? FabricException.Kind.NO_MEMORY
                        : FabricException.Kind.SYSTEM,
                "memory of a peer cannot be mapped: " + cause.getMessage(),
                cause);
    }
}
