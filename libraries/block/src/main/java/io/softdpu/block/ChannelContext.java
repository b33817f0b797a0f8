package io.softdpu.block;

import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.spi.ProviderChannel;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.core.spi.TaskType;
import io.softdpu.linux.text.Text;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Implementation of {@link BlockContext}: its tasks, and the channel to its device. */
final class ChannelContext extends ContextBase<BlockContext> implements BlockContext {
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final BlockDevice blockDevice;
    private final RangeCheck ranges;
    private final Refusal lost;

    private final TaskType<ReadTask, BlockTaskCallback<BlockReadTask>> reads;
    private final TaskType<WriteTask, BlockTaskCallback<BlockWriteTask>> writes;
    private final TaskType<FlushTask, BlockTaskCallback<BlockFlushTask>> flushes;
    private final TaskType<DiscardTask, BlockTaskCallback<BlockDiscardTask>> discards;
    private final TaskType<WriteZeroesTask, BlockTaskCallback<BlockWriteZeroesTask>> zeroes;
    private final TaskType<ExtentsTask, BlockTaskCallback<BlockExtentsTask>> extents;
    private final List<TaskType<?, ?>> types;

    /** From start until the last request has ended in a stop. */
    private @Nullable ProviderChannel channel;

    /** Whether the channel was told to stop; then when that was. */
    private boolean stopping;

    private long stoppingSinceNanos;

    ChannelContext(BlockDevice blockDevice, Device device) {
        super("block", blockDevice.toString(), device);
        this.blockDevice = blockDevice;
        this.ranges = new RangeCheck(blockDevice.properties(), blockDevice.memoryUser());
        this.lost =
                Refusal.ready(
                        Status.IO_FAILED,
                        () ->
                                "a flush of the block device has failed before: blockDevice="
                                        + blockDevice
                                        + ", expected=a device that is opened again");
        int max = BlockCapabilities.of(device.info()).maxTasks();
        this.reads = new TaskType<>("read", "setReadTasks", max, () -> new ReadTask(this));
        this.writes = new TaskType<>("write", "setWriteTasks", max, () -> new WriteTask(this));
        this.flushes = new TaskType<>("flush", "setFlushTasks", max, () -> new FlushTask(this));
        this.discards =
                new TaskType<>("discard", "setDiscardTasks", max, () -> new DiscardTask(this));
        this.zeroes =
                new TaskType<>(
                        "write-zeroes",
                        "setWriteZeroesTasks",
                        max,
                        () -> new WriteZeroesTask(this));
        this.extents =
                new TaskType<>("extents", "setExtentsTasks", max, () -> new ExtentsTask(this));
        this.types = List.of(reads, writes, flushes, discards, zeroes, extents);
    }

    @Override
    public BlockDevice blockDevice() {
        return blockDevice;
    }

    // ---- configuration ----

    @Override
    public BlockContext setReadTasks(
            int count,
            BlockTaskCallback<BlockReadTask> onSuccess,
            BlockTaskCallback<BlockReadTask> onFailure) {
        return configure(reads, count, onSuccess, onFailure);
    }

    @Override
    public BlockContext setWriteTasks(
            int count,
            BlockTaskCallback<BlockWriteTask> onSuccess,
            BlockTaskCallback<BlockWriteTask> onFailure) {
        requireWritable();
        return configure(writes, count, onSuccess, onFailure);
    }

    @Override
    public BlockContext setFlushTasks(
            int count,
            BlockTaskCallback<BlockFlushTask> onSuccess,
            BlockTaskCallback<BlockFlushTask> onFailure) {
        requireFeature(BlockFeature.FLUSH);
        return configure(flushes, count, onSuccess, onFailure);
    }

    @Override
    public BlockContext setDiscardTasks(
            int count,
            BlockTaskCallback<BlockDiscardTask> onSuccess,
            BlockTaskCallback<BlockDiscardTask> onFailure) {
        requireWritable();
        requireFeature(BlockFeature.DISCARD);
        return configure(discards, count, onSuccess, onFailure);
    }

    @Override
    public BlockContext setWriteZeroesTasks(
            int count,
            BlockTaskCallback<BlockWriteZeroesTask> onSuccess,
            BlockTaskCallback<BlockWriteZeroesTask> onFailure) {
        requireWritable();
        requireFeature(BlockFeature.WRITE_ZEROES);
        return configure(zeroes, count, onSuccess, onFailure);
    }

    @Override
    public BlockContext setExtentsTasks(
            int count,
            BlockTaskCallback<BlockExtentsTask> onSuccess,
            BlockTaskCallback<BlockExtentsTask> onFailure) {
        requireFeature(BlockFeature.EXTENTS);
        return configure(extents, count, onSuccess, onFailure);
    }

    private void requireWritable() {
        if (blockDevice.properties().has(BlockFeature.READ_ONLY)) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "block device is read-only: blockDevice=%s, context=%s,"
                                    + " expected=a device that can be written",
                            blockDevice, this));
        }
    }

    private void requireFeature(BlockFeature feature) {
        if (!blockDevice.properties().has(feature)) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "block device lacks a feature: feature=%s, blockDevice=%s, context=%s,"
                                    + " expected=one of %s",
                            feature, blockDevice, this, blockDevice.properties().features()));
        }
    }

    /** Refuses FUA on a device without it. */
    void requireFua(boolean fua) {
        if (fua) {
            requireFeature(BlockFeature.FUA);
        }
    }

    // ---- allocation ----

    @Override
    public BlockReadTask allocateRead(long offsetBytes, long lengthBytes, Buf destination) {
        return reads.requireAllocated(tryAllocateRead(offsetBytes, lengthBytes, destination));
    }

    @Override
    public @Nullable BlockReadTask tryAllocateRead(
            long offsetBytes, long lengthBytes, Buf destination) {
        requireRunning();
        Arguments.notNull(destination, "destination");
        ReadTask task = reads.tryAllocate();
        return task == null
                ? null
                : task.setRange(offsetBytes, lengthBytes).setDestination(destination);
    }

    @Override
    public BlockWriteTask allocateWrite(long offsetBytes, Buf source) {
        return writes.requireAllocated(tryAllocateWrite(offsetBytes, source));
    }

    @Override
    public @Nullable BlockWriteTask tryAllocateWrite(long offsetBytes, Buf source) {
        requireRunning();
        Arguments.notNull(source, "source");
        WriteTask task = writes.tryAllocate();
        return task == null ? null : task.setOffset(offsetBytes).setSource(source);
    }

    @Override
    public BlockFlushTask allocateFlush() {
        return flushes.requireAllocated(tryAllocateFlush());
    }

    @Override
    public @Nullable BlockFlushTask tryAllocateFlush() {
        requireRunning();
        return flushes.tryAllocate();
    }

    @Override
    public BlockDiscardTask allocateDiscard(long offsetBytes, long lengthBytes) {
        return discards.requireAllocated(tryAllocateDiscard(offsetBytes, lengthBytes));
    }

    @Override
    public @Nullable BlockDiscardTask tryAllocateDiscard(long offsetBytes, long lengthBytes) {
        requireRunning();
        DiscardTask task = discards.tryAllocate();
        return task == null ? null : task.setRange(offsetBytes, lengthBytes);
    }

    @Override
    public BlockWriteZeroesTask allocateWriteZeroes(long offsetBytes, long lengthBytes) {
        return zeroes.requireAllocated(tryAllocateWriteZeroes(offsetBytes, lengthBytes));
    }

    @Override
    public @Nullable BlockWriteZeroesTask tryAllocateWriteZeroes(
            long offsetBytes, long lengthBytes) {
        requireRunning();
        WriteZeroesTask task = zeroes.tryAllocate();
        return task == null ? null : task.setRange(offsetBytes, lengthBytes);
    }

    @Override
    public BlockExtentsTask allocateExtents(long offsetBytes, long lengthBytes) {
        return extents.requireAllocated(tryAllocateExtents(offsetBytes, lengthBytes));
    }

    @Override
    public @Nullable BlockExtentsTask tryAllocateExtents(long offsetBytes, long lengthBytes) {
        requireRunning();
        ExtentsTask task = extents.tryAllocate();
        return task == null ? null : task.setRange(offsetBytes, lengthBytes);
    }

    private void requireRunning() {
        requireOwnerThread();
        requireState(ContextState.RUNNING, "allocate");
    }

    // ---- hooks of the base class ----

    @Override
    protected void checkConfiguration() {
        if (types.stream().noneMatch(TaskType::isConfigured)) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "mandatory item is missing: item=tasks, context=%s,"
                                    + " expected=setReadTasks or another type, before start",
                            this));
        }
    }

    @Override
    protected ContextState onStart() {
        boolean started = false;
        try {
            types.forEach(TaskType::makePool);
            int tasks = types.stream().mapToInt(TaskType::count).sum();
            channel = blockDevice.enter(this, services(), tasks);
            started = true;
        } finally {
            if (!started) { // too little memory for the tasks, or none left in the system
                types.forEach(TaskType::dropPool);
            }
        }
        stopping = false;
        return ContextState.RUNNING;
    }

    @Override
    protected boolean onProgress() {
        ProviderChannel open = channel;
        return open != null && open.progress();
    }

    @Override
    protected void onRing() {
        ProviderChannel open = channel;
        if (open != null) {
            open.ring();
        }
    }

    @Override
    protected boolean onArm() {
        ProviderChannel open = channel;
        return open != null && open.arm();
    }

    @Override
    protected void onDisarm() {
        ProviderChannel open = channel;
        if (open != null) {
            open.disarm();
        }
    }

    @Override
    protected boolean onStop() {
        if (!endChannel() || !types.stream().allMatch(TaskType::allFreed)) {
            return false;
        }
        types.forEach(TaskType::dropPool);
        return true;
    }

    /** Ends the requests, and then the channel; whether it has ended. */
    private boolean endChannel() {
        ProviderChannel open = channel;
        if (open == null) {
            return true;
        }
        if (!stopping) {
            stopping = true;
            stoppingSinceNanos = System.nanoTime();
        }
        if (!open.stop()) {
            return false;
        }
        channel = null;
        try {
            open.close();
        } finally {
            blockDevice.leave(this); // last: the device may be closed from now on
        }
        return true;
    }

    @Override
    protected @Nullable String describeAwaited() {
        return !stopping || channel == null
                ? null
                : Text.format(
                        "awaited=end of requests in the device, requests=%d, stoppingMillis=%d",
                        inFlightTasks(),
                        (System.nanoTime() - stoppingSinceNanos) / NANOS_PER_MILLI);
    }

    // ---- for tasks ----

    RangeCheck ranges() {
        return ranges;
    }

    /** The refusal of a flush after one that has failed. */
    Refusal lost() {
        return lost;
    }

    /** The channel; tasks are submitted in RUNNING alone. */
    ProviderChannel channel() {
        return Objects.requireNonNull(channel, "a channel while RUNNING");
    }

    void completed(ReadTask task) {
        reads.callbackFor(task).completed(task);
    }

    void completed(WriteTask task) {
        writes.callbackFor(task).completed(task);
    }

    void completed(FlushTask task) {
        flushes.callbackFor(task).completed(task);
    }

    void completed(DiscardTask task) {
        discards.callbackFor(task).completed(task);
    }

    void completed(WriteZeroesTask task) {
        zeroes.callbackFor(task).completed(task);
    }

    void completed(ExtentsTask task) {
        extents.callbackFor(task).completed(task);
    }
}
