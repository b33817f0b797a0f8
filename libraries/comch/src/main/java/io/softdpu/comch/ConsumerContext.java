package io.softdpu.comch;

import io.softdpu.comch.wire.ConsumerAnnouncement;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.core.spi.Failures;
import io.softdpu.core.spi.Regions;
import io.softdpu.core.spi.TaskType;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.link.Link;
import io.softdpu.linux.text.Text;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The {@link ComchConsumer} context. */
final class ConsumerContext extends ContextBase<ComchConsumer> implements ComchConsumer {
    private static final System.Logger LOG = System.getLogger(ComchConsumer.class.getName());

    /** Right to the receive memory. */
    static final Permissions NEEDED = Permissions.of(AccessFlag.PCI_READ_WRITE);

    private enum Registration {
        /** The peer has not replied yet. */
        PENDING,
        /** The peer has imported the memory. */
        ACCEPTED,
        /** The peer has to release the memory. */
        RELEASING
    }

    private final ComchConnection connection;
    private final ConsumerRegistry registry;
    private final Mmap mmap;
    private final boolean ofStream;
    private final TaskType<PostReceiveTask, ComchTaskCallback<ComchPostReceiveTask>> receives;
    private @Nullable ConsumerQueue queue;

    /** Set if the user's callback is one for several tasks. */
    private @Nullable CompletedTasks<ComchPostReceiveTask> completed;

    private @Nullable Link doorbell;
    private Registration registration = Registration.PENDING;
    private long releaseDeadlineNanos;
    private long releaseLimitNanos = Long.MAX_VALUE;
    private @Nullable EngineTimer replyTimer;
    private volatile int id;

    /** The id that the peer was sent; the consumer has it once it is accepted. */
    private int announcedId;

    private ConsumerContext(
            ComchConnection connection, ConsumerRegistry registry, Mmap mmap, boolean ofStream) {
        super("comch consumer", connection.toString(), connection.endpoint().device());
        this.connection = connection;
        this.registry = registry;
        this.mmap = mmap;
        this.ofStream = ofStream;
        this.receives =
                new TaskType<>(
                        "post receive",
                        "setPostReceiveTasks",
                        connection.context().capabilities().maxConsumerTasks(),
                        () -> new PostReceiveTask(this));
    }

    /** See {@link ComchConsumer#create}. */
    static ConsumerContext create(ComchConnection connection, Mmap receiveMemory) {
        Arguments.notNull(connection, "connection");
        Arguments.notNull(receiveMemory, "receiveMemory");
        connection.context().capabilities().requireConsumers();
        ConsumerRegistry registry = connection.requireFastPath();
        if (receiveMemory.isImported()) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "receive memory is not this program's own: mmap=%s, expected=a local"
                                    + " mmap",
                            receiveMemory));
        }
        Refusal refusal = Regions.checkUse(receiveMemory, connection.context().device(), NEEDED);
        if (refusal != null) {
            throw refusal.exception("argument=receiveMemory, needed=PCI_READ_WRITE");
        }
        return new ConsumerContext(connection, registry, receiveMemory, false);
    }

    /** The consumer of a stream, over memory of the stream. */
    static ConsumerContext ofStream(
            ComchConnection connection, ConsumerRegistry registry, Mmap receiveMemory) {
        return new ConsumerContext(connection, registry, receiveMemory, true);
    }

    @Override
    public ComchConsumer setPostReceiveTasks(
            int count,
            ComchTaskCallback<ComchPostReceiveTask> onSuccess,
            ComchTaskCallback<ComchPostReceiveTask> onFailure) {
        requireConfigurable();
        receives.configure(count, onSuccess, onFailure);
        completed = null;
        return this;
    }

    @Override
    public ComchConsumer setPostReceiveTasks(
            int count, ComchBatchCallback<ComchPostReceiveTask> onCompleted) {
        requireConfigurable();
        Arguments.notNull(onCompleted, "onCompleted");
        ComchTaskCallback<ComchPostReceiveTask> single =
                CompletedTasks.single(onCompleted, ComchPostReceiveTask[]::new);
        receives.configure(count, single, single);
        completed =
                new CompletedTasks<>(
                        onCompleted,
                        new ComchPostReceiveTask[count],
                        this::completedAll,
                        this::callbackFailed);
        return this;
    }

    @Override
    public ComchConnection connection() {
        return connection;
    }

    @Override
    public int id() {
        return id;
    }

    @Override
    public PostReceiveTask allocatePostReceiveTask(Buf buf) {
        return receives.requireAllocated(tryAllocatePostReceiveTask(buf));
    }

    @Override
    public @Nullable PostReceiveTask tryAllocatePostReceiveTask(Buf buf) {
        requireOwnerThread();
        requireState(ContextState.RUNNING, "allocating a task");
        Arguments.notNull(buf, "buf");
        PostReceiveTask task = receives.tryAllocate();
        if (task == null) {
            return null;
        }
        task.setBuf(buf);
        return task;
    }

    // ---- the context ----

    @Override
    protected void checkConfiguration() {
        receives.requireConfigured(this);
    }

    @Override
    protected ContextState onStart() {
        connection.requireRegistry();
        registry.requireNoStream(ofStream, this);
        EngineTimer timer =
                services().timer(this::registrationTimedOut); // can fail: nothing has been
        // acquired yet
        ConsumerQueue created = makeQueue();
        registry.addUser(this);
        queue = created;
        registration = Registration.PENDING;
        ConsumerAnnouncement announcement = created.announcement();
        connection.services().post(() -> registry.register(created, announcement));
        timer.set(Duration.ofNanos(connection.services().controlTimeoutNanos()));
        replyTimer = timer;
        return ContextState.STARTING;
    }

    /** Makes the queue and its tasks; if it throws nothing is acquired. */
    private ConsumerQueue makeQueue() {
        Refusal refusal = Regions.checkUse(mmap, device(), NEEDED);
        if (refusal != null) { // it was usable when the consumer was created
            throw refusal.exception("context=" + this);
        }
        Regions.retain(mmap);
        ConsumerQueue created = null;
        try {
            receives.makePool();
            created = new ConsumerQueue(this, mmap, receives.count());
            return created;
        } catch (FabricException e) {
            throw Failures.of(e);
        } finally {
            if (created == null) {
                receives.dropPool();
                Regions.release(mmap);
            }
        }
    }

    @Override
    protected boolean onProgress() {
        ConsumerQueue open = queue;
        if (open == null) {
            return false;
        }
        int completed = open.progress(copier());
        if (completed < 0) {
            boolean first = open.isNewViolation();
            if (first) {
                corrupt(open);
            }
            return first;
        }
        return completed > 0;
    }

    @Override
    protected boolean onStop() {
        ConsumerQueue open = queue;
        if (open == null) {
            return true;
        }
        if (registration != Registration.RELEASING) {
            beginRelease(open);
        }
        boolean released = open.isReleased();
        boolean late = System.nanoTime() - releaseDeadlineNanos >= 0;
        if (!released && !late) {
            return false;
        }
        if (isProgressing()) {
            if (!released) {
                forceRelease(open);
            }
            if (failure() == null) {
                open.completeWritten(copier());
            }
            open.flush(failure() == null ? Status.SHUTDOWN : Status.CONNECTION_RESET);
        } else if (inFlightTasks() > 0 || !released) {
            return false;
        }
        if (!receives.allFreed()) {
            return false;
        }
        finishStop(open);
        return true;
    }

    @Override
    protected long stopWarningNanos() {
        return ofStream ? Long.MAX_VALUE : super.stopWarningNanos();
    }

    @Override
    protected @Nullable String describeAwaited() {
        if (state() == ContextState.STARTING) {
            return "awaited=reply of the peer to the registration";
        }
        return queue == null || queue.isReleased()
                ? null
                : "awaited=release of the receive memory by the peer";
    }

    @Override
    protected boolean onArm() {
        return queue != null && (queue.arm() || mayFlush(queue));
    }

    /** Whether the peer has released the memory, so that the next pass flushes the tasks. */
    private boolean mayFlush(ConsumerQueue open) {
        return registration == Registration.RELEASING && inFlightTasks() > 0 && open.isReleased();
    }

    @Override
    protected void onDisarm() {
        if (queue != null) {
            queue.disarm();
        }
    }

    // ---- for this package; the first four are called on the connection's engine ----

    void announced(ConsumerQueue of, int newId) {
        postFor(of, () -> announcedId = newId);
    }

    void accepted(ConsumerQueue of) {
        postFor(
                of,
                () -> {
                    if (state() == ContextState.STARTING) {
                        registration = Registration.ACCEPTED;
                        runIfRegistered();
                    }
                });
    }

    void postFatal(ConsumerQueue of, DpuException reason) {
        postFor(of, () -> fatal(reason));
    }

    void leaseOpened(ConsumerQueue of) {
        postFor(
                of,
                () -> {
                    addDoorbell(of.doorbell());
                    runIfRegistered();
                });
    }

    /**
     * Posts work for one start, which a stop may end before the work runs: there is no queue then,
     * or that of a later start. Work posted to a closed engine runs on the posting thread, which
     * may not touch the context, and finds no queue either.
     */
    private void postFor(ConsumerQueue of, Runnable work) {
        post(() -> {
            if (of == queue) {
                work.run();
            }
        });
    }

    /** Whether no peer has the memory mapped, for tests. */
    boolean isReleased() {
        return queue == null || queue.isReleased();
    }

    void wake() {
        post(() -> {});
    }

    Bus bus() {
        return BusServices.bus(device());
    }

    /** {@inheritDoc} Their buffers are published together. */
    @Override
    protected @Nullable Refusal onSubmitAll(Task[] tasks, int from, int to) {
        ConsumerQueue open = Objects.requireNonNull(queue, "made at start");
        boolean outermost = open.beginBatch();
        try {
            return super.onSubmitAll(tasks, from, to);
        } finally {
            if (outermost) {
                open.endBatch();
            }
        }
    }

    /** Completes a task: its callback runs now, or in {@link #deliver} with others. */
    void complete(PostReceiveTask task, Status status) {
        if (completed == null) {
            task.finish(status);
        } else if (task.finishWithOthers(status)) {
            completed.add(task);
        }
    }

    /** Runs the callback for tasks that were completed with others. */
    void deliver() {
        if (completed != null) {
            completed.deliver();
        }
    }

    @Nullable Refusal post(PostReceiveTask task) {
        return Objects.requireNonNull(queue, "made at start").post(task);
    }

    void receiveCompleted(PostReceiveTask task) {
        receives.callbackFor(task).completed(task);
    }

    // ---- private ----

    /**
     * Runs once both the peer and the bus report the import: the peer's word alone is not trusted.
     */
    private void runIfRegistered() {
        if (state() == ContextState.STARTING
                && registration == Registration.ACCEPTED
                && queue != null
                && queue.isLeased()) {
            timer().cancel();
            id = announcedId;
            started();
        }
    }

    /**
     * Expiry of the timer for the registration; for the release, {@link #onStop} checks the
     * deadline.
     */
    private void registrationTimedOut() {
        if (state() == ContextState.STARTING) {
            fatal(
                    Status.TIME_OUT,
                    Text.format(
                            "peer did not reply to the registration in time: consumer=%s,"
                                    + " timeoutNanos=%d",
                            this, connection.services().controlTimeoutNanos()));
        }
    }

    private void addDoorbell(@Nullable Link link) {
        if (doorbell == null && link != null) {
            try {
                BusServices.poller(services()).add(link);
                doorbell = link;
            } catch (FabricException e) {
                fatal(Failures.of(e));
            }
        }
    }

    /** Limits the wait for the peer's release of the memory further, before the stop. */
    void limitRelease(long timeoutNanos) {
        releaseLimitNanos = timeoutNanos;
    }

    private void beginRelease(ConsumerQueue open) {
        boolean wasAccepted = registration == Registration.ACCEPTED;
        registration = Registration.RELEASING;
        if (wasAccepted && failure() == null) {
            open.close();
        } else {
            open.revoke(); // nothing that the peer could still write is needed
        }
        releaseDeadlineNanos =
                System.nanoTime()
                        + Math.min(releaseLimitNanos, connection.services().controlTimeoutNanos());
        timer().setAt(releaseDeadlineNanos);
        connection.services().post(() -> registry.expire(open));
    }

    /** The timer of the reply that is awaited: to the registration or to the release. */
    private EngineTimer timer() {
        return Objects.requireNonNull(replyTimer, "made at start");
    }

    private void forceRelease(ConsumerQueue open) {
        open.revoke();
        if (!open.isFirstForcedRelease()) { // a task that the program keeps delays the stop
            return;
        }
        LOG.log(
                System.Logger.Level.WARNING,
                "peer keeps receive memory mapped after its consumer has stopped: consumer={0}",
                this);
    }

    private void finishStop(ConsumerQueue open) {
        timer().cancel();
        receives.dropPool();
        queue = null;
        id = 0;
        if (doorbell != null) {
            BusServices.poller(services()).remove(doorbell);
            doorbell = null;
        }
        open.destroy();
        Regions.release(mmap);
        connection.services().post(() -> registry.forget(open));
        registry.removeUser(this);
    }

    private void corrupt(ConsumerQueue open) {
        String reason = "illegal fast path slot, consumer=" + id + ", " + open.violation();
        connection.services().post(() -> connection.protocolViolated(reason));
        fatal(Status.CONNECTION_RESET, "peer violated the protocol: " + reason);
    }
}
