package io.softdpu.block.file;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.BlockRequest;
import io.softdpu.block.spi.CompletionQueue;
import io.softdpu.block.spi.ExtentList;
import io.softdpu.block.spi.ProviderChannel;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.core.spi.FixedQueue;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileBlocks;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.FileIo;
import io.softdpu.linux.LinuxException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Channel to a file. It divides requests into steps, and continues each with the next one until all
 * is done.
 *
 * <p>It has an open file of its own for all but syncs, which are those of the {@linkplain Syncs
 * device}: a request that has to be durable is a step without, and then waits for one.
 */
abstract class StepChannel implements ProviderChannel {
    /** Length in bytes to which a step is cut that the system cannot do as a whole. */
    private static final long SMALL_BYTES = 1 << 20;

    private final FileDevice device;
    private final int fd;
    private final int place;

    private final Slot[] slots;

    private final FixedQueue<Slot> free;
    private final Copier copier;
    private final StepQueue handedOver;
    private final CompletionQueue reports;
    private final SyncGroup syncs;
    private int inFlight;
    private boolean stopping;

    /**
     * Creates a channel.
     *
     * @param fd the open file, which the channel closes
     * @param place of its lock
     */
    StepChannel(FileDevice device, int fd, int place, ContextServices services, int maxRequests) {
        this.device = device;
        this.fd = fd;
        this.place = place;
        this.free = new FixedQueue<>(maxRequests);
        this.slots = new Slot[maxRequests];
        for (int i = 0; i < maxRequests; i++) {
            slots[i] = new Slot(this, i);
            free.add(slots[i]);
        }
        this.copier = services.copier();
        this.handedOver = new StepQueue(maxRequests);
        this.reports = new CompletionQueue(services::wake);
        this.syncs =
                new SyncGroup(
                        device.syncs(), maxRequests, reports, device.workers()::wake, this::finish);
    }

    // ---- of each method ----

    /** Begins a step, or keeps it until there is room for it. */
    abstract void start(Slot slot);

    /** Ends the steps that wait for room as {@link Slot#NOT_BEGUN}. */
    abstract void takeBackWaiting();

    /** Releases what the method has. */
    abstract void release();

    // ---- requests ----

    final int fd() {
        return fd;
    }

    /** Number of steps that may be under way at a time. */
    final int maxSteps() {
        return slots.length;
    }

    /** The place of this number. */
    final Slot slot(int index) {
        return slots[index];
    }

    @Override
    public final @Nullable Refusal submit(BlockRequest request) {
        Slot slot = free.remove();
        inFlight++;
        slot.request = request;
        slot.small = false;
        switch (request.operation) {
            case READ, WRITE -> startData(slot, request);
            case FLUSH -> syncs.add(slot);
            case DISCARD ->
                    startAllocate(slot, request, FileBlocks.PUNCH_HOLE | FileBlocks.KEEP_SIZE);
            case WRITE_ZEROES -> startZeros(slot, request);
            case EXTENTS -> {
                slot.step = Step.FIND;
                slot.offsetBytes = request.offsetBytes;
                slot.lengthBytes = request.lengthBytes;
                start(slot);
            }
        }
        return null;
    }

    /** Begins the next step of a read or write. */
    private void startData(Slot slot, BlockRequest request) {
        slot.step = request.operation == BlockOperation.READ ? Step.READ : Step.WRITE;
        long left = request.lengthBytes - request.doneBytes;
        slot.lengthBytes = slot.small ? Math.min(left, SMALL_BYTES) : left;
        slot.offsetBytes = request.offsetBytes + request.doneBytes;
        setMemory(slot, request.memory);
        slot.memoryOffsetBytes = request.memoryOffsetBytes + request.doneBytes;
        start(slot);
    }

    private void startZeros(Slot slot, BlockRequest request) {
        int mode = device.zeroMode(request.keepAllocated);
        if (mode == 0) {
            startZeroPiece(slot, request);
        } else {
            startAllocate(slot, request, mode);
        }
    }

    /** Begins to write the next zeros, where the file system makes none. */
    private void startZeroPiece(Slot slot, BlockRequest request) {
        MemorySegment zeros = device.zeros();
        slot.step = Step.WRITE;
        slot.offsetBytes = request.offsetBytes + request.doneBytes;
        slot.lengthBytes = Math.min(zeros.byteSize(), request.lengthBytes - request.doneBytes);
        setMemory(slot, zeros);
        slot.memoryOffsetBytes = 0;
        start(slot);
    }

    private void startAllocate(Slot slot, BlockRequest request, int mode) {
        slot.step = Step.ALLOCATE;
        slot.mode = mode;
        slot.offsetBytes = request.offsetBytes;
        slot.lengthBytes = request.lengthBytes;
        start(slot);
    }

    /** Usually the same memory again, and a comparison costs less than a store. */
    @SuppressWarnings({"ReferenceEquality", "MemorySegmentReferenceEquality"})
    private static void setMemory(Slot slot, MemorySegment memory) {
        if (slot.memory != memory) {
            slot.memory = memory;
        }
    }

    // ---- ends of steps ----

    /**
     * A step has ended. Inside progress or stop.
     *
     * @param result as {@link Slot#result}
     */
    final void stepEnded(Slot slot, long result) {
        slot.generation++;
        BlockRequest request = Objects.requireNonNull(slot.request, "a request in its place");
        if (result == Slot.NOT_BEGUN) {
            finish(slot, Status.SHUTDOWN);
        } else if (result < 0) {
            stepFailed(slot, request, (int) -result);
        } else {
            stepDone(slot, request, result);
        }
    }

    private void stepDone(Slot slot, BlockRequest request, long result) {
        switch (slot.step) {
            case READ, WRITE -> {
                if (result == 0) { // the file has become shorter; a write of none would not end
                    finish(slot, failed(slot, request, Errno.ENODATA));
                    return;
                }
                request.doneBytes += result;
                if (!device.isDirect() && request.operation != BlockOperation.WRITE_ZEROES) {
                    copier.payloadByKernel(result);
                }
                if (request.doneBytes < request.lengthBytes) {
                    proceed(slot, request);
                } else {
                    dataDone(slot, request);
                }
            }
            case ALLOCATE -> dataDone(slot, request);
            case FIND -> finish(slot, Status.SUCCESS);
        }
    }

    private void dataDone(Slot slot, BlockRequest request) {
        boolean durable =
                switch (request.operation) {
                    case WRITE, WRITE_ZEROES -> request.fua || device.isWriteThrough();
                    case READ, FLUSH, DISCARD, EXTENTS -> false;
                };
        if (durable) {
            syncs.add(slot);
        } else {
            finish(slot, Status.SUCCESS);
        }
    }

    private void stepFailed(Slot slot, BlockRequest request, int errno) {
        switch (errno) {
            case Errno.EAGAIN, Errno.EINTR, Errno.ECANCELED -> { // the latter: its thread has ended
                slot.small = true;
                proceed(slot, request);
            }
            case Errno.EOPNOTSUPP -> {
                if (request.operation == BlockOperation.WRITE_ZEROES
                        && slot.step == Step.ALLOCATE) {
                    device.refusesZeros(slot.mode);
                    proceed(slot, request);
                } else {
                    finish(slot, failed(slot, request, errno));
                }
            }
            default -> finish(slot, failed(slot, request, errno));
        }
    }

    private Status failed(Slot slot, BlockRequest request, int errno) {
        return device.failures().report(request.operation, errno, slot.offsetBytes);
    }

    /** Begins the next step of a request, or repeats the last. */
    private void proceed(Slot slot, BlockRequest request) {
        Status usable = stopping ? Status.SHUTDOWN : request.memoryStatus();
        if (usable != Status.SUCCESS) {
            finish(slot, usable);
            return;
        }
        switch (request.operation) {
            case READ, WRITE -> startData(slot, request);
            case WRITE_ZEROES -> startZeros(slot, request);
            case DISCARD, EXTENTS -> start(slot);
            case FLUSH -> throw new IllegalStateException("a flush has no step but its sync");
        }
    }

    private void finish(Slot slot, Status ended) {
        BlockRequest request = Objects.requireNonNull(slot.request, "a request in its place");
        slot.request = null;
        inFlight--;
        free.add(slot); // first: its callback may submit
        request.complete(ended);
    }

    // ---- threads of the device ----

    /** Gives a step to the threads of the device. */
    final void handOver(Slot slot) {
        reports.handedOver();
        handedOver.add(slot);
        device.workers().wake();
    }

    /** Its requests that wait for syncs of the device. */
    final SyncGroup syncs() {
        return syncs;
    }

    /** Whether a step waits for a thread of the device. Any thread. */
    final boolean hasSteps() {
        return !handedOver.isEmpty();
    }

    /**
     * Does the oldest step that waits. A thread of the device.
     *
     * @return whether there was one
     */
    final boolean work() {
        Slot slot = handedOver.poll();
        if (slot == null) {
            return false;
        }
        try {
            slot.result = execute(slot);
        } catch (LinuxException e) {
            slot.result = -e.errno();
        } catch (IllegalStateException e) {
            slot.result = -Errno.EFAULT; // the program has closed the memory
        }
        reports.add(slot.report, Status.SUCCESS);
        return true;
    }

    private long execute(Slot slot) {
        return switch (slot.step) {
            case READ -> FileIo.read(fd, memoryOf(slot), slot.offsetBytes);
            case WRITE -> FileIo.write(fd, memoryOf(slot), slot.offsetBytes);
            case ALLOCATE -> {
                FileBlocks.allocate(fd, slot.mode, slot.offsetBytes, slot.lengthBytes);
                yield 0;
            }
            case FIND -> {
                BlockRequest request = Objects.requireNonNull(slot.request, "a request");
                find(request, Objects.requireNonNull(request.extents, "a list of extents"));
                yield 0;
            }
        };
    }

    private static MemorySegment memoryOf(Slot slot) {
        return slot.memory.asSlice(slot.memoryOffsetBytes, slot.lengthBytes);
    }

    /** Finds extents: a block of which any byte is data is data. */
    private void find(BlockRequest request, ExtentList extents) {
        long mask = device.properties().blockSizeBytes() - 1L;
        long end = request.offsetBytes + request.lengthBytes;
        long at = request.offsetBytes;
        boolean room = true;
        while (at < end && room) {
            long data = FileBlocks.nextData(fd, at);
            long holeEnd = data < 0 ? end : Math.min(end, data & ~mask);
            if (holeEnd > at) {
                room = extents.add(holeEnd - at, true);
                at = holeEnd;
            } else {
                long hole = FileBlocks.nextHole(fd, data);
                long dataEnd = hole < 0 ? end : Math.min(end, (hole + mask) & ~mask);
                room = extents.add(dataEnd - at, false);
                at = dataEnd;
            }
        }
    }

    // ---- progress ----

    @Override
    public boolean progress() {
        boolean any = reports.complete();
        any |= syncs.complete();
        return any;
    }

    @Override
    public boolean arm() {
        return reports.arm() || syncs.hasEnded();
    }

    @Override
    public void disarm() {
        reports.disarm();
    }

    @Override
    public final boolean stop() {
        stopping = true;
        takeBackWaiting();
        for (Slot slot = handedOver.poll(); slot != null; slot = handedOver.poll()) {
            slot.result = Slot.NOT_BEGUN;
            reports.add(slot.report, Status.SUCCESS);
        }
        syncs.stop();
        boolean _ = reports.complete();
        syncs.finishWaiting();
        return inFlight == 0;
    }

    @Override
    public final void close() {
        release();
        FileDescriptors.close(fd);
        device.channelClosed(this, place);
    }
}
