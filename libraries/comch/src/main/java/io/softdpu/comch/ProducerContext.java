package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelLimits;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.copy.SlicedCopy;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.core.spi.Failures;
import io.softdpu.core.spi.FixedQueue;
import io.softdpu.core.spi.MemoryServices;
import io.softdpu.core.spi.TaskType;
import io.softdpu.core.spi.memory.Regions;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The {@link ComchProducer} context. */
final class ProducerContext extends ContextBase implements ComchProducer {
    private static final Regions<Mmap, Buf, Permissions, Device> REGIONS = MemoryServices.regions();

    /**
     * Submissions after which a sleeping consumer is woken without waiting for the next progress.
     */
    private static final int DOORBELL_BATCH = 8;

    private final ComchConnection connection;
    private final ConsumerRegistry registry;
    private final RemoteConsumer[] attached = new RemoteConsumer[ChannelLimits.MAX_CONSUMERS];
    private final CreditWaiter[] waiters = new CreditWaiter[ChannelLimits.MAX_CONSUMERS];
    private final boolean[] doorbellDue = new boolean[ChannelLimits.MAX_CONSUMERS];
    private final long maxBufferBytes;
    private int attachedCount;

    /** Number of {@link #waiters} that wait. */
    private int waiting;

    private int doorbellsDue;
    private int sendsSinceDoorbell;
    private final TaskType<ProducerSendTask, ComchTaskCallback<ComchProducerSendTask>> sends;

    /** Large sends, the oldest of which is being copied. */
    private FixedQueue<ProducerSendTask> copying = new FixedQueue<>(1);

    /** State of the copy of the oldest large send. */
    private final SlicedCopy copy = new SlicedCopy();

    private FixedQueue<ProducerSendTask> done = new FixedQueue<>(1);
    private @Nullable Copier copier;

    /** Only ends a sleep beside buffers that are kept for others: the next pass compares times. */
    private @Nullable EngineTimer keepTimer;

    private boolean active;
    private boolean dropDue;
    private final AtomicBoolean dropPosted = new AtomicBoolean();
    private volatile int id;

    ProducerContext(ComchConnection connection, ConsumerRegistry registry) {
        super("comch producer of " + connection, connection.endpoint().device());
        this.connection = connection;
        this.registry = registry;
        ComchCapabilities capabilities = connection.context().capabilities();
        this.maxBufferBytes = capabilities.maxProducerBufferSize();
        this.sends =
                new TaskType<>(
                        "producer send",
                        capabilities.maxProducerTasks(),
                        () -> new ProducerSendTask(this));
    }

    @Override
    public void setSendTasks(
            int count,
            ComchTaskCallback<ComchProducerSendTask> onSuccess,
            ComchTaskCallback<ComchProducerSendTask> onFailure) {
        requireConfigurable();
        sends.configure(count, onSuccess, onFailure);
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
    public ComchProducerSendTask allocateSendTask(Buf buf, int consumerId) {
        requireOwnerThread();
        requireState(ContextState.RUNNING, "allocating a task");
        Arguments.notNull(buf, "buf");
        ProducerSendTask task = sends.allocate();
        task.setBuf(buf);
        task.setConsumerId(consumerId);
        return task;
    }

    // ---- the context ----

    @Override
    protected void checkConfiguration() {
        sends.requireConfigured(this);
    }

    @Override
    protected ContextState onStart() {
        connection.requireRegistry();
        sends.makePool();
        copying = new FixedQueue<>(sends.count());
        done = new FixedQueue<>(sends.count());
        copier = copier();
        registry.addUser();
        active = true;
        connection.services().post(() -> registry.register(this));
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
        for (int left = done.size();
                left > 0;
                left--) { // tasks that callbacks submit complete in the next progress
            ProducerSendTask task = done.remove();
            REGIONS.clearInFlight(Objects.requireNonNull(task.buf(), "submitted"));
            task.finish();
            worked = true;
        }
        ringDoorbells();
        if (waiting > 0 && buffersArrived()) {
            worked = true;
        }
        return worked;
    }

    @Override
    protected boolean onStop() {
        if (!active) {
            return true;
        }
        ringDoorbells();
        if (!sends.allFreed()) {
            return false;
        }
        sends.dropPool();
        active = false;
        id = 0;
        while (attachedCount > 0) {
            detach(attachedCount - 1);
        }
        connection.services().post(() -> registry.unregister(this));
        registry.removeUser();
        return true;
    }

    @Override
    protected boolean onArm() {
        boolean ready = doorbellsDue > 0 || !copying.isEmpty() || !done.isEmpty() || dropDue;
        if (waiting > 0) {
            for (int i = 0; i < attachedCount; i++) {
                if (waiters[i].isWaiting()) {
                    ready |= waiters[i].arm();
                    countEnded(waiters[i]);
                    if (waiters[i].isBehindOthers()) {
                        endSleepWhenKeptForLong();
                    }
                }
            }
        }
        return ready;
    }

    @Override
    protected void onDisarm() {
        if (waiting > 0) {
            for (int i = 0; i < attachedCount; i++) {
                waiters[i].disarm();
            }
            if (keepTimer != null) {
                keepTimer.cancel();
            }
        }
    }

    @Override
    protected void onRing() {
        ringDoorbells();
    }

    @Override
    protected void onDestroy() {
        // Nothing: the imports were released when the producer stopped.
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

    void postFatal(DpuException reason) {
        post(() -> {
            // Work posted to a closed engine runs on the posting thread, which may not touch the
            // context; the context is IDLE then.
            if (state() != ContextState.IDLE) {
                fatal(reason);
            }
        });
    }

    /** A consumer of the peer has expired and waits for the release of its memory. */
    void consumerGone() {
        if (dropPosted.compareAndSet(
                false, true)) { // one post at a time, or a peer could fill the mailbox
            post(() -> {
                dropPosted.set(false);
                dropDue = true;
            });
        }
    }

    // ---- sending ----

    Status send(ProducerSendTask task) {
        Buf buf = task.buf();
        if (buf == null || buf.references() == 0) {
            return Status.INVALID_VALUE;
        }
        Mmap mmap = buf.mmap();
        if (mmap.isImported()) {
            return Status.INVALID_VALUE;
        }
        long length = buf.dataLength();
        if (length > maxBufferBytes) {
            return Status.INVALID_VALUE;
        }
        Status usable = REGIONS.checkUse(mmap, device(), Permissions.LOCAL_READ_ONLY);
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
        Status claimed = claim(task, buf, to, waiters[index], length);
        if (claimed != Status.SUCCESS) {
            REGIONS.clearInFlight(buf);
        } else if (length <= FastPathRing.INLINE_BYTES) {
            doorbell(index);
        }
        return claimed;
    }

    /** Claims the next posted buffer, and fills it if the data is small. */
    private Status claim(
            ProducerSendTask task, Buf buf, RemoteConsumer to, CreditWaiter waiter, long length) {
        FastPathProducer ring = to.ring();
        long ticket = waiter.mayClaim() ? ring.claim(length) : FastPathRing.NO_BUFFER;
        if (ticket < 0) {
            return notClaimed(to, waiter, ticket);
        }
        endWaiting(waiter);
        long offset = ring.regionOffset(ticket);
        if (offset < 0 || offset > to.memory().byteSize() - length) {
            ring.abandon(ticket, id);
            return corrupt(
                    to,
                    "posting outside the memory: offsetBytes=%d, lengthBytes=%d, memoryBytes=%d"
                            .formatted(offset, length, to.memory().byteSize()));
        }
        task.claimed(to, ticket, offset);
        if (length > FastPathRing.INLINE_BYTES) {
            copying.add(task);
            return Status.SUCCESS;
        }
        boolean written = false;
        try {
            Copier with = Objects.requireNonNull(copier, "made at start");
            with.message(
                    REGIONS.segmentOf(buf),
                    buf.dataOffset(),
                    ring.segment(),
                    ring.inlineOffset(ticket),
                    length);
            commit(with, task, to, length, true);
            written = true;
        } finally {
            if (!written) {
                ring.abandon(ticket, id); // the source cannot be read: an error of the program
            }
        }
        task.settle(Status.SUCCESS);
        done.add(task);
        return Status.SUCCESS;
    }

    private Status notClaimed(RemoteConsumer to, CreditWaiter waiter, long ticket) {
        if (ticket == FastPathRing.NO_BUFFER) {
            if (!waiter.isWaiting()) {
                waiting++;
            }
            waiter.begin();
            return Status.AGAIN;
        }
        endWaiting(waiter);
        if (ticket == FastPathRing.TOO_LARGE) {
            return Status.INVALID_VALUE;
        }
        return ticket == FastPathRing.CLOSING
                ? Status.NOT_FOUND
                : corrupt(to, String.valueOf(to.ring().violation()));
    }

    // ---- waiting for buffers ----

    /** Whether a buffer has been posted for a submission that found none; inside progress. */
    private boolean buffersArrived() {
        boolean arrived = false;
        for (int i = 0; i < attachedCount; i++) {
            CreditWaiter waiter = waiters[i];
            if (waiter.isWaiting()) {
                arrived |= waiter.progress();
                countEnded(waiter);
            }
        }
        return arrived;
    }

    private void endSleepWhenKeptForLong() {
        EngineTimer timer = keepTimer;
        if (timer == null) { // rarely needed, and an engine with a timer reads the clock
            timer = services().timer(() -> {});
            keepTimer = timer;
        }
        timer.set(CreditQueue.KEEP_NANOS);
    }

    private void endWaiting(CreditWaiter waiter) {
        if (waiter.isWaiting()) {
            waiter.end();
            waiting--;
        }
    }

    /** Counts a waiter that has ended by itself. */
    private void countEnded(CreditWaiter waiter) {
        if (!waiter.isWaiting()) {
            waiting--;
        }
    }

    // ---- large sends ----

    /** Copies the next slice of the oldest large send. */
    private void copySlice() {
        ProducerSendTask task = copying.peek();
        RemoteConsumer to = Objects.requireNonNull(task.target(), "claimed");
        Buf buf = Objects.requireNonNull(task.buf(), "submitted");
        long length = buf.dataLength();
        boolean ended = failure() != null;
        if (ended || to.revoked()) {
            copy.end();
            to.ring().abandon(task.ticket(), id);
            settleCopy(task, to, ended ? Status.CONNECTION_RESET : to.revokedStatus());
            return;
        }
        if (copy.isDone()) { // the copy of the previous send
            copy.begin(
                    REGIONS.segmentOf(buf),
                    buf.dataOffset(),
                    to.memory(),
                    task.targetOffset(),
                    length);
        }
        Copier with = Objects.requireNonNull(copier, "made at start");
        copy.advance(with, Copier.SLICE_BYTES);
        if (copy.isDone()) {
            commit(with, task, to, length, false);
            settleCopy(task, to, Status.SUCCESS);
        }
    }

    private void settleCopy(ProducerSendTask task, RemoteConsumer to, Status status) {
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
            Copier with, ProducerSendTask task, RemoteConsumer to, long length, boolean inline) {
        FastPathProducer ring = to.ring();
        int immediateLength = task.immediateLength();
        if (immediateLength > 0) {
            with.message(
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
        connection.services().post(() -> connection.protocolViolated(reason));
        return Status.CONNECTION_RESET;
    }

    void sendCompleted(ProducerSendTask task) {
        sends.callbackFor(task).completed(task);
    }

    // ---- consumers of the peer ----

    /** Index of an attached consumer, which is attached if necessary; -1 if there is none. */
    private int attach(int consumerId) {
        for (int i = 0; i < attachedCount; i++) {
            if (attached[i].id() == consumerId) {
                return i;
            }
        }
        RemoteConsumer found = registry.find(consumerId);
        if (found == null || attachedCount == attached.length || !found.retain()) {
            return -1;
        }
        try {
            BusServices.poller(services()).add(found.link(), found.credit()::wakeWaiters);
        } catch (FabricException e) {
            found.release();
            fatal(Failures.of(e));
            return -1;
        }
        attached[attachedCount] = found;
        waiters[attachedCount] = new CreditWaiter(found.credit(), services()::wake);
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

    @SuppressWarnings("NullAway") // the ends of the arrays beyond attachedCount are empty
    private void detach(int index) {
        RemoteConsumer remote = attached[index];
        endWaiting(waiters[index]);
        BusServices.poller(services()).remove(remote.link());
        if (doorbellDue[index]) {
            doorbellsDue--;
        }
        attachedCount--;
        attached[index] = attached[attachedCount];
        waiters[index] = waiters[attachedCount];
        doorbellDue[index] = doorbellDue[attachedCount];
        attached[attachedCount] = null;
        waiters[attachedCount] = null;
        remote.release();
    }

    private void doorbell(int index) {
        if (!doorbellDue[index]) {
            doorbellDue[index] = true;
            doorbellsDue++;
        }
        if (++sendsSinceDoorbell >= DOORBELL_BATCH) {
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
        sendsSinceDoorbell = 0;
    }
}
