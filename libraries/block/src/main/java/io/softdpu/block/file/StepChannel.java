package io.softdpu.block.file;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.BlockRequest;
import io.softdpu.block.spi.CompletionQueue;
import io.softdpu.block.spi.ProviderChannel;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.spi.FixedQueue;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileBlocks;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.FileIo;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.text.Reason;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Channel to a file. It divides requests into steps, and continues each with the next one until all
 * is done.
 *
 * <p>It has an open file of its own, so it learns of each loss by itself. A request that has to be
 * durable is done, and then waits for a sync; a direct write that is alone is durable by itself.
 */
abstract class StepChannel implements ProviderChannel {
    /** Length in bytes to which a step is cut that the system cannot do as a whole. */
    private static final long SMALL_BYTES = 1 << 20;

    private static final System.Logger LOG = System.getLogger(StepChannel.class.getName());

    private final FileDevice device;
    private final StepCalls calls;
    private final int fd;
    private final int place;

    private final Slot[] slots;

    /** The last place, of no request: that of syncs. */
    private final Slot sync;

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
     * @param wake ends the sleep of the engine; any thread calls it
     */
    StepChannel(
            FileDevice device, int fd, int place, Copier copier, Runnable wake, int maxRequests) {
        this.device = device;
        this.calls = new StepCalls(device, fd);
        this.fd = fd;
        this.place = place;
        this.free = new FixedQueue<>(maxRequests);
        this.slots = new Slot[maxRequests + 1];
        for (int i = 0; i < maxRequests; i++) {
            slots[i] = new Slot(this, i);
            free.add(slots[i]);
        }
        this.sync = new Slot(this, maxRequests);
        slots[maxRequests] = sync;
        sync.step = Step.SYNC;
        this.copier = copier;
        this.handedOver = new StepQueue(slots.length);
        this.reports = new CompletionQueue(wake);
        this.syncs = new SyncGroup(maxRequests, this::finish);
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
        boolean durable = hasToBeDurable(request);
        if (durable) {
            syncs.begun();
        }
        switch (request.operation) {
            case READ -> startData(slot, request);
            case WRITE -> {
                slot.durable = durable && device.isDirect() && syncs.takeTurn();
                startData(slot, request);
            }
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

    private boolean hasToBeDurable(BlockRequest request) {
        return switch (request.operation) {
            case FLUSH -> true;
            case WRITE, WRITE_ZEROES -> request.fua || device.isWriteThrough();
            case READ, DISCARD, EXTENTS -> false;
        };
    }

    /** Begins the sync of the requests that wait for one, unless one is under way. */
    final void startSync() {
        if (syncs.begin(sync)) {
            start(sync);
        }
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
        if (slot == sync) {
            syncEnded(result);
            return;
        }
        BlockRequest request = Objects.requireNonNull(slot.request, "a request in its place");
        if (slot.step == Step.RENEW) {
            complete(slot, request, Status.IO_FAILED);
        } else if (result == Slot.NOT_BEGUN) {
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
            case SYNC, RENEW -> throw new IllegalStateException("no step of a request's own");
        }
    }

    private void dataDone(Slot slot, BlockRequest request) {
        if (slot.durable) {
            // A disk that writes durably by itself has asked the kernel for no report.
            int errno = FileIo.takeLossReport(fd);
            finish(slot, errno == 0 ? Status.SUCCESS : lost(BlockOperation.FLUSH, errno, 0));
        } else if (hasToBeDurable(request)) {
            syncs.add(slot);
        } else {
            finish(slot, Status.SUCCESS);
        }
    }

    /** The sync has ended, with a result as that of a step. */
    private void syncEnded(long result) {
        if (result == -Errno.ECANCELED && !stopping) { // the kernel has had no thread for it
            handOver(sync);
        } else if (result == Slot.NOT_BEGUN || result == -Errno.ECANCELED) {
            syncs.end(Status.SHUTDOWN);
        } else if (result == 0) {
            syncs.end(Status.SUCCESS);
        } else { // of whatever errno: the report was taken, and is not repeated
            syncs.end(lost(BlockOperation.FLUSH, (int) -result, 0));
        }
    }

    /** Bytes were lost: no request that has to be durable succeeds from now on. */
    private Status lost(BlockOperation operation, int errno, long offsetBytes) {
        device.loss().note(); // first: logging takes time
        Status _ = device.failures().report(operation, errno, offsetBytes);
        return Status.IO_FAILED;
    }

    /**
     * A write that is durable by itself has failed. That does not tell which half of it, and may
     * have taken the report of a loss.
     */
    private void durableWriteFailed(Slot slot, BlockRequest request, int errno) {
        if (errno == Errno.EIO) {
            finish(slot, lost(request.operation, errno, slot.offsetBytes));
        } else if (device.loss().learn()) {
            finish(slot, Status.IO_FAILED);
        } else { // again by halves, which tell each for itself
            leaveTurn(slot);
            slot.small = true;
            proceed(slot, request);
        }
    }

    private void leaveTurn(Slot slot) {
        if (slot.durable) {
            slot.durable = false;
            syncs.leaveTurn();
        }
    }

    private void stepFailed(Slot slot, BlockRequest request, int errno) {
        if (slot.durable) {
            durableWriteFailed(slot, request, errno);
            return;
        }
        switch (errno) {
            case Errno.EAGAIN, Errno.EINTR -> {
                slot.small = true;
                proceed(slot, request);
            }
            case Errno.ECANCELED -> { // the kernel has had no thread for it
                if (mayProceed(slot, request)) {
                    handOver(slot);
                }
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
            default -> {
                if (slot.step != Step.READ) { // a write on NFS may have taken the report of a loss
                    boolean _ = device.loss().learn();
                }
                finish(slot, failed(slot, request, errno));
            }
        }
    }

    private Status failed(Slot slot, BlockRequest request, int errno) {
        return device.failures().report(request.operation, errno, slot.offsetBytes);
    }

    /** Begins the next step of a request, or repeats the last. */
    private void proceed(Slot slot, BlockRequest request) {
        if (!mayProceed(slot, request)) {
            return;
        }
        switch (request.operation) {
            case READ, WRITE -> startData(slot, request);
            case WRITE_ZEROES -> startZeros(slot, request);
            case DISCARD, EXTENTS -> start(slot);
            case FLUSH -> throw new IllegalStateException("a flush has no step but its sync");
        }
    }

    /** Whether a request may have another step; ends it otherwise. */
    private boolean mayProceed(Slot slot, BlockRequest request) {
        Status usable = stopping ? Status.SHUTDOWN : request.memoryStatus();
        if (usable != Status.SUCCESS) {
            finish(slot, usable);
        }
        return usable == Status.SUCCESS;
    }

    /**
     * A request has ended; none that had to be durable succeeds on a device that has lost bytes.
     */
    private void finish(Slot slot, Status ended) {
        BlockRequest request = Objects.requireNonNull(slot.request, "a request in its place");
        if (!hasToBeDurable(request) || !device.loss().isKnown()) {
            complete(slot, request, ended);
            return;
        }
        Status result = ended == Status.SUCCESS ? Status.IO_FAILED : ended;
        if (result == Status.IO_FAILED && !device.loss().isRenewed()) {
            slot.step = Step.RENEW; // who sees the failure sees the other identity
            handOver(slot);
        } else {
            complete(slot, request, result);
        }
    }

    private void complete(Slot slot, BlockRequest request, Status ended) {
        leaveTurn(slot);
        if (hasToBeDurable(request)) {
            syncs.ended();
        }
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
        slot.result = -Errno.EIO;
        try {
            slot.result = calls.execute(slot);
        } catch (LinuxException e) {
            slot.result = -e.errno();
        } catch (IllegalStateException e) {
            slot.result = -Errno.EFAULT; // the program has closed the memory
        } catch (RuntimeException | Error e) { // the thread has other steps to do
            LOG.log(
                    System.Logger.Level.ERROR,
                    "step of a block device has failed: blockDevice="
                            + device.properties().description()
                            + ", step="
                            + slot.step
                            + ", failure="
                            + Reason.of(e),
                    e);
        } finally {
            if (tellsOfLoss(slot)) {
                device.loss().note(); // before this engine looks: other contexts may sync meanwhile
            }
            reports.add(slot.report, Status.SUCCESS); // even if the log has thrown
        }
        return true;
    }

    private static boolean tellsOfLoss(Slot slot) {
        return switch (slot.step) {
            case SYNC -> slot.result < 0;
            case WRITE -> slot.durable && slot.result == -Errno.EIO;
            case READ, ALLOCATE, FIND, RENEW -> false;
        };
    }

    // ---- progress ----

    @Override
    public boolean progress() {
        boolean any = reports.complete();
        any |= syncs.complete();
        startSync();
        return any;
    }

    @Override
    public void ring() {
        startSync();
    }

    @Override
    public boolean arm() {
        startSync();
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
        for (int left = handedOver.size(); left > 0; left--) {
            Slot slot = handedOver.poll();
            if (slot == null) { // a thread has it
                break;
            }
            if (slot.step == Step.RENEW) { // stays: the engine would wait for the file
                handedOver.add(slot);
                device.workers().wake();
            } else {
                slot.result = Slot.NOT_BEGUN;
                reports.add(slot.report, Status.SUCCESS);
            }
        }
        boolean _ = reports.complete();
        boolean _ = syncs.complete();
        syncs.takeBackWaiting();
        return inFlight == 0;
    }

    @Override
    public final void close() {
        release();
        FileDescriptors.close(fd);
        device.channelClosed(this, place);
    }
}
