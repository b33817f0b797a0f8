package io.softdpu.compute;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.JobQueue;
import io.softdpu.core.spi.TaskType;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Implementation of {@link Sha}: its tasks, and the hashes in flight on its engine. */
@SuppressWarnings("ReferenceEquality") // contexts are objects, not values
final class ShaContext extends OperationContext<Sha> implements Sha {
    private final ShaCapabilities capabilities;
    private final TaskType<HashTask, ShaTaskCallback<ShaHashTask>> hashTasks;
    private final TaskType<PartialHashTask, ShaTaskCallback<ShaPartialHashTask>> partialHashTasks;
    private @Nullable ShaScratch scratch;

    ShaContext(Device device, ShaCapabilities capabilities) {
        super("sha " + device.info().ibdevName(), device);
        this.capabilities = capabilities;
        this.hashTasks =
                new TaskType<>(
                        "hash", "setHashTasks", capabilities.maxTasks(), () -> new HashTask(this));
        this.partialHashTasks =
                new TaskType<>(
                        "partial hash",
                        "setPartialHashTasks",
                        capabilities.maxTasks(),
                        () -> new PartialHashTask(this));
    }

    @Override
    public Sha setHashTasks(
            int count,
            ShaTaskCallback<ShaHashTask> onSuccess,
            ShaTaskCallback<ShaHashTask> onFailure) {
        return configure(hashTasks, count, onSuccess, onFailure);
    }

    @Override
    public Sha setPartialHashTasks(
            int count,
            ShaTaskCallback<ShaPartialHashTask> onSuccess,
            ShaTaskCallback<ShaPartialHashTask> onFailure) {
        return configure(partialHashTasks, count, onSuccess, onFailure);
    }

    @Override
    public ShaCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public ShaHashTask allocateHash(ShaAlgorithm algorithm, Buf source, Buf destination) {
        return hashTasks.requireAllocated(tryAllocateHash(algorithm, source, destination));
    }

    @Override
    public @Nullable ShaHashTask tryAllocateHash(
            ShaAlgorithm algorithm, Buf source, Buf destination) {
        requireTasks("createHashJob");
        Arguments.notNull(algorithm, "algorithm");
        Arguments.notNull(source, "source");
        Arguments.notNull(destination, "destination");
        HashTask task = hashTasks.tryAllocate();
        return task == null
                ? null
                : task.setAlgorithm(algorithm).setSource(source).setDestination(destination);
    }

    @Override
    public ShaPartialHashTask allocatePartialHash(
            ShaAlgorithm algorithm, Buf source, Buf destination) {
        return partialHashTasks.requireAllocated(
                tryAllocatePartialHash(algorithm, source, destination));
    }

    @Override
    public @Nullable ShaPartialHashTask tryAllocatePartialHash(
            ShaAlgorithm algorithm, Buf source, Buf destination) {
        requireTasks("createPartialHashJob");
        Arguments.notNull(algorithm, "algorithm");
        Arguments.notNull(source, "source");
        Arguments.notNull(destination, "destination");
        PartialHashTask task = partialHashTasks.tryAllocate();
        return task == null
                ? null
                : task.setAlgorithm(algorithm).setSource(source).setDestination(destination);
    }

    @Override
    public ShaHashJob createHashJob(ShaAlgorithm algorithm, Buf source, Buf destination) {
        Arguments.notNull(algorithm, "algorithm");
        Arguments.notNull(source, "source");
        Arguments.notNull(destination, "destination");
        return new HashJob(this, algorithm, source, destination);
    }

    @Override
    public ShaSession createSession(ShaAlgorithm algorithm) {
        Arguments.notNull(algorithm, "algorithm");
        return new PartialHash(this, algorithm, new ShaDigests());
    }

    @Override
    public ShaPartialHashJob createPartialHashJob(ShaSession session, Buf source, Buf destination) {
        PartialHash own = (PartialHash) Arguments.notNull(session, "session");
        Arguments.notNull(source, "source");
        Arguments.notNull(destination, "destination");
        if (own.context() != this) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "session is of another context: context=%s, expected=%s",
                            own.context(), this));
        }
        return new PartialHashJob(this, own, source, destination);
    }

    // ---- hooks of the base classes ----

    @Override
    protected JobQueue newJobQueue(int depth) {
        return new ShaJobQueue(this, depth);
    }

    @Override
    protected void checkConfiguration() {
        if (hasEngine() && !hashTasks.isConfigured() && !partialHashTasks.isConfigured()) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "mandatory item is missing: item=hash tasks, context=%s,"
                                    + " expected=setHashTasks or setPartialHashTasks, before start",
                            this));
        }
    }

    @Override
    OperationQueue makePools() {
        scratch = new ShaScratch();
        hashTasks.makePool();
        partialHashTasks.makePool();
        return new OperationQueue(hashTasks.count() + partialHashTasks.count(), Hash.SLICE_BYTES);
    }

    @Override
    boolean allFreed() {
        return hashTasks.allFreed() && partialHashTasks.allFreed();
    }

    @Override
    void dropPools() {
        hashTasks.dropPool();
        partialHashTasks.dropPool();
        scratch = null;
    }

    // ---- for tasks and jobs ----

    ShaScratch scratch() {
        return Objects.requireNonNull(scratch, "the memory of tasks until stopped");
    }

    void completed(HashTask task) {
        hashTasks.callbackFor(task).completed(task);
    }

    void completed(PartialHashTask task) {
        partialHashTasks.callbackFor(task).completed(task);
    }
}
