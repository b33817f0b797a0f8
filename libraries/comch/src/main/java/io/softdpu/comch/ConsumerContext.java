package io.softdpu.comch;

import io.softdpu.comch.wire.ConsumerAnnouncement;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.core.spi.Failures;
import io.softdpu.core.spi.MemoryServices;
import io.softdpu.core.spi.TaskSet;
import io.softdpu.core.spi.memory.Regions;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.link.Link;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The {@link ComchConsumer} context. */
final class ConsumerContext extends ContextBase implements ComchConsumer {
    private static final Regions<Mmap, Buf, Permissions, Device> REGIONS = MemoryServices.regions();
    private static final System.Logger LOG = System.getLogger(ComchConsumer.class.getName());
    private static final Permissions NEEDED = Permissions.of(AccessFlag.PCI_READ_WRITE);

    private enum Registration {
        /** The peer has not answered yet. */
        PENDING,
        /** The peer has imported the memory. */
        ACCEPTED,
        /** The memory is being taken back. */
        ENDING
    }

    private final ComchConnection connection;
    private final ConsumerDirectory directory;
    private final Mmap mmap;
    private final TaskSet<PostReceiveTask, ComchTaskCallback<ComchPostReceiveTask>> receives;
    private @Nullable ConsumerQueue queue;
    private @Nullable Link doorbell;
    private Registration registration = Registration.PENDING;
    private long releaseDeadlineNanos;
    private @Nullable EngineTimer answerTimer;
    private volatile int id;

    ConsumerContext(ComchConnection connection, ConsumerDirectory directory, Mmap mmap) {
        super("comch consumer of " + connection, connection.endpoint().device());
        this.connection = connection;
        this.directory = directory;
        this.mmap = mmap;
        this.receives =
                new TaskSet<>(
                        "post receive",
                        connection.context().capabilities().maxConsumerTasks(),
                        () -> new PostReceiveTask(this));
        REGIONS.retain(mmap);
    }

    /** See {@link ComchConsumer#create}. */
    static ConsumerContext create(ComchConnection connection, Mmap receiveMemory) {
        Arguments.notNull(connection, "connection");
        Arguments.notNull(receiveMemory, "receiveMemory");
        ConsumerDirectory directory = connection.requireFastPath();
        if (receiveMemory.isImported()) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    "receive memory must be this program's own: mmap=" + receiveMemory);
        }
        Status usable = REGIONS.checkUse(receiveMemory, connection.context().device(), NEEDED);
        if (usable != Status.SUCCESS) {
            throw new DpuException(
                    usable,
                    "receive memory cannot be used: needed=PCI_READ_WRITE, device=%s, mmap=%s"
                            .formatted(connection.context().device(), receiveMemory));
        }
        return new ConsumerContext(connection, directory, receiveMemory);
    }

    @Override
    public void setPostReceiveTasks(
            int count,
            ComchTaskCallback<ComchPostReceiveTask> onSuccess,
            ComchTaskCallback<ComchPostReceiveTask> onFailure) {
        requireConfigurable();
        receives.configure(count, onSuccess, onFailure);
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
    public ComchPostReceiveTask allocatePostReceiveTask(Buf buf) {
        requireOwnerThread();
        requireState(ContextState.RUNNING, "allocating a task");
        Arguments.notNull(buf, "buf");
        PostReceiveTask task = receives.allocate();
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
        connection.requireDirectory();
        EngineTimer timer = services().timer(this::answerOverdue); // can fail: nothing is taken yet
        ConsumerQueue begun;
        try {
            begun = new ConsumerQueue(this, mmap, receives.count());
        } catch (FabricException e) {
            throw Failures.of(e);
        }
        directory.enter();
        receives.makePool();
        queue = begun;
        registration = Registration.PENDING;
        ConsumerAnnouncement announcement = begun.announcement();
        connection.services().post(() -> directory.register(this, announcement));
        timer.set(connection.services().controlTimeoutNanos());
        answerTimer = timer;
        return ContextState.STARTING;
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
        if (registration != Registration.ENDING) {
            beginEnding(open);
        }
        boolean released = open.isReleased();
        boolean late = System.nanoTime() - releaseDeadlineNanos >= 0;
        if (!released && !late) {
            return false;
        }
        if (isProgressing()) {
            if (!released) {
                cutOff(open);
            }
            open.flush(failure() == null ? Status.SHUTDOWN : Status.CONNECTION_RESET);
        } else if (inFlightTasks() > 0 || !released) {
            return false;
        }
        if (!receives.allFreed()) {
            return false;
        }
        end(open);
        return true;
    }

    @Override
    protected boolean onArm() {
        ConsumerQueue open = queue;
        return open != null && open.arm();
    }

    @Override
    protected void onDisarm() {
        ConsumerQueue open = queue;
        if (open != null) {
            open.disarm();
        }
    }

    @Override
    protected void onDestroy() {
        REGIONS.release(mmap);
    }

    // ---- for the rest of the package; the first four come from the connection's engine ----

    void announced(int newId) {
        post(() -> id = newId);
    }

    void accepted() {
        post(() -> {
            if (state() == ContextState.STARTING) {
                registration = Registration.ACCEPTED;
                runIfRegistered();
            }
        });
    }

    void lose(DpuException reason) {
        post(() -> {
            // Work for an engine that was closed runs on the thread that posts it: there is
            // nothing to lose any more, and that thread may not touch the context.
            if (state() != ContextState.IDLE) {
                fatal(reason);
            }
        });
    }

    void leaseOpened(ConsumerQueue of) {
        post(() -> {
            if (of == queue) {
                listenTo(of.doorbell());
                runIfRegistered();
            }
        });
    }

    void wake() {
        post(() -> {});
    }

    Bus bus() {
        return BusServices.bus(device());
    }

    Status post(PostReceiveTask task) {
        return Objects.requireNonNull(queue, "made at start").post(task);
    }

    void receiveCompleted(PostReceiveTask task) {
        receives.callbackFor(task).completed(task);
    }

    // ---- inside ----

    /** The peer says that it has the memory, and the bus says the same: both, since peers lie. */
    private void runIfRegistered() {
        ConsumerQueue open = queue;
        if (state() == ContextState.STARTING
                && registration == Registration.ACCEPTED
                && open != null
                && open.isLeased()) {
            timer().cancel();
            started();
        }
    }

    /**
     * For the registration; the answer to the end is looked for in each progress, with its time.
     */
    private void answerOverdue() {
        if (state() == ContextState.STARTING) {
            fatal(
                    Status.TIME_OUT,
                    "peer did not answer the registration in time: consumer=%s, timeoutNanos=%d"
                            .formatted(this, connection.services().controlTimeoutNanos()));
        }
    }

    private void listenTo(@Nullable Link link) {
        if (doorbell == null && link != null) {
            try {
                BusServices.waiter(services()).add(link);
                doorbell = link;
            } catch (FabricException e) {
                fatal(Failures.of(e));
            }
        }
    }

    private void beginEnding(ConsumerQueue open) {
        boolean wasAccepted = registration == Registration.ACCEPTED;
        registration = Registration.ENDING;
        if (wasAccepted && failure() == null) {
            open.close();
        } else {
            open.revoke(); // nothing that the peer could still write is wanted
        }
        long timeoutNanos = connection.services().controlTimeoutNanos();
        releaseDeadlineNanos = System.nanoTime() + timeoutNanos;
        timer().set(timeoutNanos);
        connection.services().post(() -> directory.expire(this));
    }

    /** The limit for the answer of the peer that is waited for now. */
    private EngineTimer timer() {
        return Objects.requireNonNull(answerTimer, "made at start");
    }

    private void cutOff(ConsumerQueue open) {
        open.revoke();
        if (!open.isNewCutOff()) { // a task that the program keeps holds the end up
            return;
        }
        LOG.log(
                System.Logger.Level.WARNING,
                "peer keeps receive memory mapped after its consumer has stopped: consumer={0}",
                this);
    }

    private void end(ConsumerQueue open) {
        timer().cancel();
        receives.dropPool();
        queue = null;
        id = 0;
        Link link = doorbell;
        if (link != null) {
            doorbell = null;
            BusServices.waiter(services()).remove(link);
        }
        open.destroy();
        connection.services().post(() -> directory.forget(this));
        directory.leave();
    }

    private void corrupt(ConsumerQueue open) {
        String reason = "illegal fast path slot, consumer=" + id + ", " + open.violation();
        connection.services().post(() -> connection.broken(reason));
        fatal(Status.CONNECTION_RESET, "peer broke the protocol: " + reason);
    }
}
