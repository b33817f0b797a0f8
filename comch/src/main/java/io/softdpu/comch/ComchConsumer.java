package io.softdpu.comch;

import io.softdpu.comch.wire.ConsumerAnnouncement;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.core.spi.Failures;
import io.softdpu.core.spi.Regions;
import io.softdpu.core.spi.TaskPool;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.link.Link;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The receiving end of the fast path: posts buffers into which the peer's producers write (Comm
 * Channel guide, "doca_cc_consumer Initialization Flow").
 *
 * <p>It may have an engine and a thread of its own. {@link #start()} makes it STARTING; it is
 * RUNNING when the connection's engine has announced it and the peer's engine has answered, so both
 * have to be progressed. If the peer does not answer within the connection's control timeout, or
 * refuses, the consumer goes through STOPPING to IDLE and {@link #failure()} says why.
 *
 * <p>A consumer that stops tells the peer and takes what is still written until the peer has let go
 * of the memory; then what is left fails with SHUTDOWN, and when all tasks have been freed it is
 * IDLE. A peer that does not let go within the control timeout is cut off, and the receive memory
 * should not be used for anything else as long as that peer lives. If the connection ends, the
 * consumer stops by itself and its tasks fail with CONNECTION_RESET.
 */
public final class ComchConsumer extends ContextBase {
    private static final Regions REGIONS = Regions.get();
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
    private int taskCount;
    private @Nullable ComchTaskCallback<ComchPostReceiveTask> received;
    private @Nullable ComchTaskCallback<ComchPostReceiveTask> failed;
    private @Nullable TaskPool<ComchPostReceiveTask> pool;
    private @Nullable ConsumerQueue queue;
    private @Nullable Link doorbell;
    private Registration registration = Registration.PENDING;
    private long releaseDeadlineNanos;
    private Bus.@Nullable Alarm alarm;
    private volatile int id;

    private ComchConsumer(ComchConnection connection, ConsumerDirectory directory, Mmap mmap) {
        super("comch consumer of " + connection, connection.endpoint().device());
        this.connection = connection;
        this.directory = directory;
        this.mmap = mmap;
        REGIONS.retain(mmap);
    }

    /**
     * Creates a consumer in IDLE. Any thread.
     *
     * @param connection an established connection, whose client or server has consumer callbacks
     * @param receiveMemory the mmap of all buffers that will be posted: local, started, with
     *     PCI_READ_WRITE and the connection's device, over memory that can be shared
     * @throws DpuException NOT_CONNECTED if the connection is not established; BAD_STATE if there
     *     are no consumer callbacks, or the mmap is not started; NOT_PERMITTED if the mmap has not
     *     the permission or the device; NOT_SUPPORTED if it is imported
     */
    public static ComchConsumer create(ComchConnection connection, Mmap receiveMemory) {
        Arguments.notNull(connection, "connection");
        Arguments.notNull(receiveMemory, "receiveMemory");
        ConsumerDirectory directory = connection.requireFastPath();
        if (receiveMemory.isImported()) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    "receive memory must be this program's own: mmap=" + receiveMemory);
        }
        Status usable = REGIONS.checkUse(receiveMemory, connection.endpoint().device(), NEEDED);
        if (usable != Status.SUCCESS) {
            throw new DpuException(
                    usable,
                    "receive memory cannot be used: needed=PCI_READ_WRITE, device=%s, mmap=%s"
                            .formatted(connection.endpoint().device(), receiveMemory));
        }
        return new ComchConsumer(connection, directory, receiveMemory);
    }

    /**
     * Sets the number of post receive tasks, which is also how many buffers can be posted at once,
     * and who is told when one is done.
     *
     * @param count 1 to the device's maximum
     * @param onSuccess is given the tasks that received something
     * @param onFailure is given the others
     * @throws DpuException INVALID_VALUE if the count is out of range; BAD_STATE if it is not IDLE
     */
    public void setPostReceiveTasks(
            int count,
            ComchTaskCallback<ComchPostReceiveTask> onSuccess,
            ComchTaskCallback<ComchPostReceiveTask> onFailure) {
        requireOwnerThread();
        requireConfigurable();
        ComchEndpoint.requireRange(
                "postReceiveTasks", count, connection.endpoint().capabilities().maxConsumerTasks());
        Arguments.notNull(onSuccess, "onSuccess");
        Arguments.notNull(onFailure, "onFailure");
        received = onSuccess;
        failed = onFailure;
        taskCount = count;
    }

    /** The connection. Any thread. */
    public ComchConnection connection() {
        return connection;
    }

    /**
     * The id by which the peer's producers name it; unique within the connection. 0 until RUNNING.
     */
    public int id() {
        return id;
    }

    /**
     * Takes a post receive task from the pool.
     *
     * @throws DpuException BAD_STATE if the consumer is not RUNNING; NO_MEMORY if all tasks are in
     *     use
     */
    public ComchPostReceiveTask allocatePostReceiveTask(Buf buf) {
        requireOwnerThread();
        requireState(ContextState.RUNNING, "allocating a task");
        Arguments.notNull(buf, "buf");
        ComchPostReceiveTask task = Objects.requireNonNull(pool, "made at start").allocate();
        task.setBuf(buf);
        return task;
    }

    // ---- the context ----

    @Override
    protected void checkConfiguration() {
        if (received == null) {
            throw new DpuException(
                    Status.BAD_STATE, "not configured: item=post receive tasks, context=" + this);
        }
    }

    @Override
    protected ContextState onStart() {
        connection.requireDirectory();
        ConsumerQueue begun;
        try {
            begun = new ConsumerQueue(this, mmap, taskCount);
        } catch (FabricException e) {
            throw Failures.from(e);
        }
        directory.enter();
        pool = new TaskPool<>(taskCount, () -> new ComchPostReceiveTask(this));
        queue = begun;
        registration = Registration.PENDING;
        ConsumerAnnouncement announcement = begun.announcement();
        connection.endpoint().enqueue(() -> directory.register(this, announcement));
        setAlarm(
                connection.endpoint().controlTimeoutNanos(),
                () -> post(() -> registrationOver(begun)));
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
        if (!allFreed()) {
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

    void wakeEngine() {
        post(() -> {});
    }

    Bus machineBus() {
        return bus();
    }

    Status post(ComchPostReceiveTask task) {
        return Objects.requireNonNull(queue, "made at start").post(task);
    }

    void receiveCompleted(ComchPostReceiveTask task) {
        Objects.requireNonNull(task.status() == Status.SUCCESS ? received : failed).completed(task);
    }

    // ---- inside ----

    /** The peer says that it has the memory, and the bus says the same: both, since peers lie. */
    private void runIfRegistered() {
        ConsumerQueue open = queue;
        if (state() == ContextState.STARTING
                && registration == Registration.ACCEPTED
                && open != null
                && open.isLeased()) {
            cancelAlarm();
            started();
        }
    }

    private void registrationOver(ConsumerQueue of) {
        if (of == queue && state() == ContextState.STARTING) {
            fatal(
                    Status.TIME_OUT,
                    "peer did not answer the registration in time: consumer=%s, timeoutNanos=%d"
                            .formatted(this, connection.endpoint().controlTimeoutNanos()));
        }
    }

    private void listenTo(@Nullable Link link) {
        if (doorbell == null && link != null) {
            try {
                waiter().add(link);
                doorbell = link;
            } catch (FabricException e) {
                fatal(Failures.from(e));
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
        long timeoutNanos = connection.endpoint().controlTimeoutNanos();
        releaseDeadlineNanos = System.nanoTime() + timeoutNanos;
        setAlarm(timeoutNanos, this::wakeEngine);
        connection.endpoint().enqueue(() -> directory.expire(this));
    }

    /** A limit for the answer that is waited for now; it takes the place of the one before. */
    private void setAlarm(long delayNanos, Runnable work) {
        cancelAlarm();
        alarm = bus().after(delayNanos, work);
    }

    private void cancelAlarm() {
        if (alarm != null) {
            alarm.cancel();
            alarm = null;
        }
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
        cancelAlarm();
        queue = null;
        id = 0;
        Link link = doorbell;
        if (link != null) {
            doorbell = null;
            waiter().remove(link);
        }
        open.destroy();
        connection.endpoint().enqueue(() -> directory.forget(this));
        directory.leave();
    }

    private void corrupt(ConsumerQueue open) {
        String reason = "illegal fast path slot, consumer=" + id + ", " + open.violation();
        connection.endpoint().enqueue(() -> connection.endpoint().broken(connection, reason));
        fatal(Status.CONNECTION_RESET, "peer broke the protocol: " + reason);
    }

    private boolean allFreed() {
        TaskPool<ComchPostReceiveTask> tasks = pool;
        return tasks == null || tasks.available() == tasks.total();
    }
}
