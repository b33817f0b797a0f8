package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelLimits;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.core.spi.FixedQueue;
import io.softdpu.core.spi.Regions;
import io.softdpu.core.spi.TaskPool;
import io.softdpu.fabric.engine.PayloadCopy;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The sending end of the fast path: writes into the buffers that consumers of the peer have posted
 * (Comm Channel guide, "doca_cc_producer").
 *
 * <p>It may have an engine and a thread of its own. {@link #start()} makes it STARTING; it is
 * RUNNING after a progress of its own engine and of the connection's. Data of up to 64 bytes is
 * written at submission; larger data in progress, 256 KiB at a time, so that a large send does not
 * keep the engine from the rest. What one producer sends to a consumer arrives in the order of the
 * submissions.
 *
 * <p>A producer that stops finishes the sends that it has taken: the peer's buffers are bound to
 * them. It is IDLE when all its tasks are completed and freed. If the connection ends, the producer
 * stops by itself and its sends fail with CONNECTION_RESET.
 */
public final class ComchProducer extends ContextBase {
    private static final Regions REGIONS = Regions.get();

    /** Submissions after which a consumer that sleeps is woken without waiting for the progress. */
    private static final int DOORBELL_BATCH = 8;

    private final ComchConnection connection;
    private final ConsumerDirectory directory;
    private final RemoteConsumer[] attached = new RemoteConsumer[ChannelLimits.MAX_CONSUMERS];
    private final boolean[] doorbellDue = new boolean[ChannelLimits.MAX_CONSUMERS];
    private final long maxBufferBytes;
    private int attachedCount;
    private int doorbellsDue;
    private int unrung;
    private int taskCount;
    private @Nullable ComchTaskCallback<ComchProducerSendTask> sent;
    private @Nullable ComchTaskCallback<ComchProducerSendTask> failed;
    private @Nullable TaskPool<ComchProducerSendTask> pool;
    private FixedQueue<ComchProducerSendTask> copying = new FixedQueue<>(1);
    private FixedQueue<ComchProducerSendTask> done = new FixedQueue<>(1);
    private boolean active;
    private boolean dropDue;
    private final AtomicBoolean dropPosted = new AtomicBoolean();
    private volatile int id;

    private ComchProducer(ComchConnection connection, ConsumerDirectory directory) {
        super("comch producer of " + connection, connection.endpoint().device());
        this.connection = connection;
        this.directory = directory;
        this.maxBufferBytes = connection.endpoint().capabilities().maxProducerBufferSize();
    }

    /**
     * Creates a producer in IDLE. Any thread.
     *
     * @param connection an established connection, whose client or server has consumer callbacks
     * @throws DpuException NOT_CONNECTED if the connection is not established; BAD_STATE if there
     *     are no consumer callbacks
     */
    public static ComchProducer create(ComchConnection connection) {
        Arguments.notNull(connection, "connection");
        return new ComchProducer(connection, connection.requireFastPath());
    }

    /**
     * Sets the number of send tasks and who is told when one is done.
     *
     * @param count 1 to the device's maximum
     * @param onSuccess is given the tasks whose data has arrived
     * @param onFailure is given the others
     * @throws DpuException INVALID_VALUE if the count is out of range; BAD_STATE if it is not IDLE
     */
    public void setSendTasks(
            int count,
            ComchTaskCallback<ComchProducerSendTask> onSuccess,
            ComchTaskCallback<ComchProducerSendTask> onFailure) {
        requireOwnerThread();
        requireConfigurable();
        ComchEndpoint.requireRange(
                "sendTasks", count, connection.endpoint().capabilities().maxProducerTasks());
        Arguments.notNull(onSuccess, "onSuccess");
        Arguments.notNull(onFailure, "onFailure");
        sent = onSuccess;
        failed = onFailure;
        taskCount = count;
    }

    /** The connection. Any thread. */
    public ComchConnection connection() {
        return connection;
    }

    /**
     * The id that consumers are told; unique within this side of the connection. 0 until RUNNING.
     */
    public int id() {
        return id;
    }

    /**
     * Takes a send task from the pool.
     *
     * @throws DpuException BAD_STATE if the producer is not RUNNING; NO_MEMORY if all tasks are in
     *     use
     */
    public ComchProducerSendTask allocateSendTask(Buf buf, int consumerId) {
        requireOwnerThread();
        requireState(ContextState.RUNNING, "allocating a task");
        Arguments.notNull(buf, "buf");
        ComchProducerSendTask task = Objects.requireNonNull(pool, "made at start").allocate();
        task.setBuf(buf);
        task.setConsumerId(consumerId);
        return task;
    }

    // ---- the context ----

    @Override
    protected void checkConfiguration() {
        if (sent == null) {
            throw new DpuException(
                    Status.BAD_STATE, "not configured: item=send tasks, context=" + this);
        }
    }

    @Override
    protected ContextState onStart() {
        connection.requireDirectory();
        pool = new TaskPool<>(taskCount, () -> new ComchProducerSendTask(this));
        copying = new FixedQueue<>(taskCount);
        done = new FixedQueue<>(taskCount);
        directory.enter();
        active = true;
        connection.endpoint().enqueue(() -> directory.register(this));
        return ContextState.STARTING;
    }

    @Override
    protected boolean onProgress() {
        ringDoorbells();
        boolean worked = !copying.isEmpty();
        if (worked) {
            copySlice();
        }
        if (dropDue) {
            dropGone();
        }
        for (int left = done.size(); left > 0; left--) { // what callbacks submit waits for the next
            ComchProducerSendTask task = done.remove();
            REGIONS.clearInFlight(Objects.requireNonNull(task.buf(), "submitted"));
            task.finish();
            worked = true;
        }
        ringDoorbells();
        return worked;
    }

    @Override
    protected boolean onStop() {
        if (!active) {
            return true;
        }
        ringDoorbells();
        TaskPool<ComchProducerSendTask> tasks = pool;
        if (tasks != null && tasks.available() < tasks.total()) {
            return false;
        }
        active = false;
        id = 0;
        while (attachedCount > 0) {
            detach(attachedCount - 1);
        }
        connection.endpoint().enqueue(() -> directory.unregister(this));
        directory.leave();
        return true;
    }

    @Override
    protected boolean onArm() {
        return doorbellsDue > 0 || !copying.isEmpty() || !done.isEmpty() || dropDue;
    }

    @Override
    protected void onDisarm() {
        // Nothing was armed: a producer has no ring of its own, it only writes into others'.
    }

    @Override
    protected void onRing() {
        ringDoorbells();
    }

    @Override
    protected void onDestroy() {
        // Nothing: the imports were given back when the producer stopped.
    }

    // ---- from the connection's engine ----

    void registered(int newId) {
        post(() -> {
            if (state() == ContextState.STARTING) {
                id = newId;
                started();
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

    /** A consumer of the peer has gone: it waits for its memory. */
    void consumerGone() {
        if (dropPosted.compareAndSet(false, true)) { // a peer must not fill the mailbox
            post(() -> {
                dropPosted.set(false);
                dropDue = true;
            });
        }
    }

    // ---- sending ----

    Status send(ComchProducerSendTask task) {
        Buf buf = task.buf();
        if (buf == null || buf.references() == 0 || REGIONS.isRemote(buf)) {
            return Status.INVALID_VALUE;
        }
        long length = buf.dataLength();
        if (length > maxBufferBytes) {
            return Status.INVALID_VALUE;
        }
        Status usable = REGIONS.checkUse(buf.mmap(), device(), Permissions.LOCAL_READ_ONLY);
        if (usable != Status.SUCCESS) {
            return usable;
        }
        int index = attach(task.consumerId());
        if (index < 0) {
            return Status.NOT_FOUND;
        }
        RemoteConsumer to = attached[index];
        if (to.unusable()) {
            return to.unusableStatus();
        }
        Status marked = REGIONS.markSource(buf, ComchCapabilities.MAX_LIST_LENGTH);
        if (marked != Status.SUCCESS) {
            return marked;
        }
        Status claimed = claim(task, buf, to, length);
        if (claimed != Status.SUCCESS) {
            REGIONS.clearInFlight(buf);
        } else if (length <= FastPathRing.INLINE_BYTES) {
            doorbell(index);
        }
        return claimed;
    }

    /** Claims the next posted buffer, and fills it if the data is small. */
    private Status claim(ComchProducerSendTask task, Buf buf, RemoteConsumer to, long length) {
        FastPathProducer ring = to.ring();
        long ticket = ring.claim(length);
        if (ticket < 0) {
            return notClaimed(to, ticket);
        }
        long offset = ring.regionOffset(ticket);
        if (offset < 0 || offset > to.memory().byteSize() - length) {
            ring.abandon(ticket, id);
            return corrupt(
                    to,
                    "posting outside the memory: offset=%d, length=%d, memoryBytes=%d"
                            .formatted(offset, length, to.memory().byteSize()));
        }
        task.claimed(to, ticket, offset);
        if (length > FastPathRing.INLINE_BYTES) {
            copying.add(task);
            return Status.SUCCESS;
        }
        boolean written = false;
        try {
            PayloadCopy copier = copier();
            copier.message(
                    REGIONS.segmentOf(buf),
                    buf.dataOffset(),
                    ring.segment(),
                    ring.inlineOffset(ticket),
                    length);
            commit(task, to, length, true);
            written = true;
        } finally {
            if (!written) {
                ring.abandon(ticket, id); // the source cannot be read: the program's own mistake
            }
        }
        task.settle(Status.SUCCESS);
        done.add(task);
        return Status.SUCCESS;
    }

    private Status notClaimed(RemoteConsumer to, long ticket) {
        if (ticket == FastPathRing.NO_BUFFER) {
            return Status.AGAIN;
        }
        if (ticket == FastPathRing.TOO_LARGE) {
            return Status.INVALID_VALUE;
        }
        return ticket == FastPathRing.CLOSING
                ? Status.NOT_FOUND
                : corrupt(to, String.valueOf(to.ring().violation()));
    }

    /** Copies the next piece of the oldest large send. */
    private void copySlice() {
        ComchProducerSendTask task = copying.peek();
        RemoteConsumer to = Objects.requireNonNull(task.target(), "claimed");
        Buf buf = Objects.requireNonNull(task.buf(), "submitted");
        long length = buf.dataLength();
        boolean ended = failure() != null;
        if (ended || to.revoked()) {
            to.ring().abandon(task.ticket(), id);
            settleCopy(task, to, ended ? Status.CONNECTION_RESET : to.revokedStatus());
            return;
        }
        long slice = Math.min(PayloadCopy.SLICE_BYTES, length - task.copied());
        copier().payload(
                        REGIONS.segmentOf(buf),
                        buf.dataOffset() + task.copied(),
                        to.memory(),
                        task.targetOffset() + task.copied(),
                        slice);
        task.advance(slice);
        if (task.copied() == length) {
            commit(task, to, length, false);
            settleCopy(task, to, Status.SUCCESS);
        }
    }

    private void settleCopy(ComchProducerSendTask task, RemoteConsumer to, Status status) {
        copying.remove();
        task.settle(status);
        done.add(task);
        for (int i = 0; i < attachedCount; i++) {
            if (attached[i] == to) {
                doorbell(i);
            }
        }
        dropDue |= to.expired();
    }

    private void commit(
            ComchProducerSendTask task, RemoteConsumer to, long length, boolean inline) {
        FastPathProducer ring = to.ring();
        int immediateLength = task.immediateLength();
        if (immediateLength > 0) {
            copier().message(
                            task.immediate(),
                            0,
                            ring.segment(),
                            ring.immediateOffset(task.ticket()),
                            immediateLength);
        }
        ring.commit(task.ticket(), length, id, immediateLength, inline);
    }

    private Status corrupt(RemoteConsumer to, String violation) {
        String reason = "illegal posting, consumer=" + to.id() + ", " + violation;
        connection.endpoint().enqueue(() -> connection.endpoint().broken(connection, reason));
        return Status.CONNECTION_RESET;
    }

    void sendCompleted(ComchProducerSendTask task) {
        Objects.requireNonNull(task.status() == Status.SUCCESS ? sent : failed).completed(task);
    }

    // ---- consumers of the peer ----

    /** Index of a consumer that this producer holds, taken now if need be; -1 if there is none. */
    private int attach(int consumerId) {
        for (int i = 0; i < attachedCount; i++) {
            if (attached[i].id() == consumerId) {
                return i;
            }
        }
        RemoteConsumer found = directory.find(consumerId);
        if (found == null || attachedCount == attached.length || !found.retain()) {
            return -1;
        }
        attached[attachedCount] = found;
        doorbellDue[attachedCount] = false;
        return attachedCount++;
    }

    private void dropGone() {
        dropDue = false;
        for (int i = attachedCount - 1; i >= 0; i--) {
            if (attached[i].expired() && !isCopyingTo(attached[i])) {
                detach(i);
            }
        }
    }

    private boolean isCopyingTo(RemoteConsumer remote) {
        for (int i = 0; i < copying.size(); i++) {
            if (copying.get(i).target() == remote) {
                return true;
            }
        }
        return false;
    }

    @SuppressWarnings("NullAway") // the end of the array beyond attachedCount is empty
    private void detach(int index) {
        RemoteConsumer remote = attached[index];
        if (doorbellDue[index]) {
            doorbellsDue--;
        }
        attachedCount--;
        attached[index] = attached[attachedCount];
        doorbellDue[index] = doorbellDue[attachedCount];
        attached[attachedCount] = null;
        remote.release();
    }

    private void doorbell(int index) {
        if (!doorbellDue[index]) {
            doorbellDue[index] = true;
            doorbellsDue++;
        }
        if (++unrung >= DOORBELL_BATCH) {
            ringDoorbells();
        }
    }

    private void ringDoorbells() {
        if (doorbellsDue == 0) {
            return;
        }
        for (int i = 0; i < attachedCount; i++) {
            if (doorbellDue[i]) {
                doorbellDue[i] = false;
                attached[i].ringIfArmed();
            }
        }
        doorbellsDue = 0;
        unrung = 0;
    }
}
