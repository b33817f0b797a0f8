package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.copy.SlicedCopy;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.core.spi.Failures;
import io.softdpu.core.spi.FixedQueue;
import io.softdpu.core.spi.MemoryRight;
import io.softdpu.core.spi.Regions;
import io.softdpu.core.spi.TaskType;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import io.softdpu.linux.text.Text;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the {@link ProducerContext} with its sends: the checks of a task, the claim of a
 * buffer of the consumer, the copies, and the completions. One object with the context, so that a
 * message passes no other.
 */
abstract sealed class ProducerSends extends ContextBase<ComchProducer> permits ProducerContext {

    /**
     * Bytes that a large send counts at least with in a pass of progress: a pass copies at most 64
     * messages, as many as a consumer completes.
     */
    private static final long MIN_COUNTED_BYTES = Copier.SLICE_BYTES / 64;

    /** The operand, for messages of refusals. */
    private static final String SOURCE = "operand=source";

    final ComchConnection connection;
    final ConsumerRegistry registry;

    /** Runs when the stream can send more; null if the producer is of no stream. */
    private final @Nullable Runnable onRoom;

    private final AttachedConsumers consumers;
    private final MemoryRight sources;
    private final long maxBufferBytes;
    final TaskType<ProducerSendTask, ComchTaskCallback<ComchProducerSendTask>> sends;

    /** Large sends, the oldest of which is being copied. */
    private FixedQueue<ProducerSendTask> copying = new FixedQueue<>(1);

    /** State of the copy of the oldest large send. */
    private final SlicedCopy copy = new SlicedCopy();

    private FixedQueue<ProducerSendTask> done = new FixedQueue<>(1);
    private @Nullable Copier copier;

    /** Set if the user's callback is one for several tasks. */
    @Nullable CompletedTasks<ComchProducerSendTask> completed;

    private boolean dropDue;

    /** Number of messages sent by {@link #sendInline} since the last pass of progress. */
    private int inlineSends;

    // Results of the last claim(Task[], ...), beside its refusal.
    private long firstTicket;
    private int claimedCount;

    private volatile int id;

    /** Creates a producer; {@code onRoom} as in {@link ProducerContext#ofStream}. */
    ProducerSends(
            ComchConnection connection, ConsumerRegistry registry, @Nullable Runnable onRoom) {
        super("comch producer", connection.toString(), connection.endpoint().device());
        this.connection = connection;
        this.registry = registry;
        this.onRoom = onRoom;
        this.consumers = new AttachedConsumers(registry);
        this.sources = new MemoryRight(device(), Permissions.LOCAL_READ_ONLY);
        ComchCapabilities capabilities = connection.context().capabilities();
        this.maxBufferBytes = capabilities.maxProducerBufferBytes();
        this.sends =
                new TaskType<>(
                        "producer send",
                        "setSendTasks",
                        capabilities.maxProducerTasks(),
                        this::newTask);
    }

    abstract ProducerSendTask newTask();

    /** Creates the tasks and their queues; if it throws nothing is acquired. */
    final void openSends() {
        copying = new FixedQueue<>(sends.count());
        done = new FixedQueue<>(sends.count());
        copier = copier();
        sends.makePool();
    }

    /** Ends the sends, if all tasks are in their pool; whether they are. */
    final boolean closeSends() {
        consumers.ringDoorbells();
        if (!sends.allFreed()) {
            return false;
        }
        sends.dropPool();
        id = 0;
        consumers.detachAll(services());
        return true;
    }

    /** Sets the id that the peer knows this producer by. */
    final void setId(int newId) {
        id = newId;
    }

    /** The id that the peer knows this producer by; 0 unless it is RUNNING or STOPPING. */
    public final int id() {
        return id;
    }

    final boolean isOfStream() {
        return onRoom != null;
    }

    /** Releases the consumers that have expired, in the next pass of progress. */
    final void dropExpired() {
        dropDue = true;
    }

    // ---- progress ----

    @Override
    protected boolean onProgress() {
        consumers.passBegins();
        consumers.ringDoorbells();
        boolean worked = !copying.isEmpty();
        if (worked) {
            copySlices();
        }
        if (dropDue) {
            dropDue = false;
            consumers.detachExpired(this::isCopyingTo, services());
        }
        worked |= completeDone();
        boolean hasRoom = consumers.buffersArrived() || inlineSends > 0;
        inlineSends = 0;
        if (hasRoom && onRoom != null) {
            onRoom.run();
        }
        consumers.ringDoorbells();
        return hasRoom || worked;
    }

    @Override
    protected boolean onArm() {
        boolean ready =
                consumers.areDoorbellsDue()
                        || !copying.isEmpty()
                        || !done.isEmpty()
                        || inlineSends > 0
                        || dropDue;
        return consumers.arm(services()) || ready;
    }

    @Override
    protected void onDisarm() {
        consumers.disarm();
    }

    @Override
    protected void onRing() {
        consumers.ringDoorbells();
    }

    // ---- sending ----

    @Nullable Refusal send(ProducerSendTask task) {
        Refusal refusal = check(task);
        if (refusal != null) {
            return refusal;
        }
        AttachedConsumer to = consumerOf(task);
        if (to == null) {
            return noConsumer(task.consumerId());
        }
        if (!to.isUsable()) {
            return to.unusable();
        }
        Buf buf = bufOf(task);
        refusal = Regions.markSource(buf, ComchCapabilities.MAX_LIST_LENGTH);
        if (refusal != null) {
            return Refusal.with(refusal, SOURCE);
        }
        FastPathProducer ring = to.remote().ring();
        long ticket =
                to.waiter().mayClaim() ? ring.claim(buf.dataLength()) : FastPathRing.NO_BUFFER;
        boolean written = false;
        try {
            if (ticket < 0) {
                refusal = notClaimed(to, ticket, buf);
            } else {
                consumers.endWaiting(to.waiter());
                refusal = write(task, buf, to, ticket);
            }
            written = refusal == null;
        } finally {
            if (!written) {
                Regions.clearInFlight(buf);
            }
        }
        return refusal;
    }

    /**
     * Sends a message of a stream that fits the peer's ring, at once: its task is not submitted,
     * and its buf can be filled again.
     *
     * @return false if it was not sent: the submission of the task tells why
     */
    boolean sendInline(ProducerSendTask task) {
        Buf buf = bufOf(task);
        long length = buf.dataLength();
        if (length > FastPathRing.INLINE_BYTES || !takesTasks() || isSanitized()) {
            return false;
        }
        AttachedConsumer to = consumerOf(task);
        if (to == null || !to.isUsable() || !to.waiter().mayClaim()) {
            return false;
        }
        long ticket = to.remote().ring().claim(length);
        if (ticket < 0) {
            return false;
        }
        consumers.endWaiting(to.waiter());
        writeInline(task, buf, to.remote(), ticket, length);
        inlineSends++;
        consumers.sent(to);
        workAdded();
        return true;
    }

    /** Number of messages sent by {@link #sendInline} since the last pass of progress. */
    int inlineSends() {
        return inlineSends;
    }

    /** {@inheritDoc} Those to the same consumer, one after another, claim their buffers at once. */
    @Override
    protected @Nullable Refusal onSubmitAll(Task[] tasks, int from, int end) {
        int next = from;
        while (next < end) {
            ProducerSendTask first = (ProducerSendTask) tasks[next];
            int sameEnd = next + 1;
            while (sameEnd < end
                    && ((ProducerSendTask) tasks[sameEnd]).consumerId() == first.consumerId()) {
                sameEnd++;
            }
            Refusal refusal = sendAll(tasks, next, sameEnd);
            if (refusal != null) {
                return refusal;
            }
            next = sameEnd;
        }
        return null;
    }

    /** Sends to one consumer; null if all were accepted, else why the first that was not. */
    private @Nullable Refusal sendAll(Task[] tasks, int from, int end) {
        ProducerSendTask first = (ProducerSendTask) tasks[from];
        AttachedConsumer to = consumerOf(first);
        if (to == null) {
            return noConsumer(first.consumerId());
        }
        if (!to.isUsable()) {
            return to.unusable();
        }
        int next = from;
        while (next < end) {
            // Beside others that wait each message takes its turn.
            int most = to.waiter().mayClaimSeveral() ? end : next + 1;
            Refusal refusal = sendSome(tasks, next, most, to);
            if (refusal != null) {
                return refusal;
            }
            next = most;
        }
        return null;
    }

    /** Claims buffers for as many as possible, and writes them; as {@link #sendAll}. */
    private @Nullable Refusal sendSome(Task[] tasks, int from, int end, AttachedConsumer to) {
        int marked = from;
        Refusal refusal = null;
        while (marked < end) {
            refusal = mark((ProducerSendTask) tasks[marked]);
            if (refusal != null) {
                break;
            }
            marked++;
        }
        int sent = 0;
        try {
            claimedCount = 0;
            if (marked > from) {
                Refusal notClaimed = claim(tasks, from, marked, to);
                refusal = notClaimed == null ? refusal : notClaimed;
            }
            int claimed = claimedCount;
            long ticket = firstTicket;
            try {
                while (sent < claimed) {
                    ProducerSendTask task = (ProducerSendTask) tasks[from + sent];
                    Refusal notWritten = write(task, bufOf(task), to, ticket + sent);
                    if (notWritten != null) {
                        refusal = notWritten;
                        break;
                    }
                    sent++;
                }
            } finally {
                // That of the failed write was abandoned there.
                for (long unused = ticket + sent + 1; unused < ticket + claimed; unused++) {
                    to.remote().ring().abandon(unused, id);
                }
            }
        } finally {
            for (int i = from + sent; i < marked; i++) {
                Regions.clearInFlight(bufOf(tasks[i]));
            }
            accepted(sent);
        }
        return refusal;
    }

    /**
     * Claims buffers for the first of the tasks: {@link #claimedCount} of them, from {@link
     * #firstTicket} on. Null if for all, else why not for the next.
     */
    private @Nullable Refusal claim(Task[] tasks, int from, int end, AttachedConsumer to) {
        if (!to.waiter().mayClaim()) {
            return notClaimed(to, FastPathRing.NO_BUFFER, bufOf(tasks[from]));
        }
        FastPathProducer ring = to.remote().ring();
        while (true) {
            long first = ring.nextTicket();
            long found = first;
            int fitting = from;
            while (fitting < end) {
                found =
                        ring.check(
                                first,
                                first + (fitting - from),
                                bufOf(tasks[fitting]).dataLength());
                if (found < 0) {
                    break;
                }
                fitting++;
            }
            int count = fitting - from;
            if (found != FastPathRing.TAKEN && (count == 0 || ring.claim(first, first + count))) {
                if (count > 0) {
                    consumers.endWaiting(to.waiter());
                }
                firstTicket = first;
                claimedCount = count;
                return found < 0 ? notClaimed(to, found, bufOf(tasks[fitting])) : null;
            }
        }
    }

    private @Nullable Refusal mark(ProducerSendTask task) {
        Refusal refusal = check(task);
        return refusal == null
                ? Refusal.with(
                        Regions.markSource(bufOf(task), ComchCapabilities.MAX_LIST_LENGTH), SOURCE)
                : refusal;
    }

    private static Buf bufOf(Task task) {
        return Objects.requireNonNull(((ProducerSendTask) task).buf(), "checked");
    }

    /** Checks whether the task's data can be sent: null, or why not. */
    private @Nullable Refusal check(ProducerSendTask task) {
        Buf buf = task.buf();
        if (buf == null || buf.references() == 0) {
            return noBuf(buf);
        }
        Mmap mmap = buf.mmap();
        if (mmap.isImported() || buf.dataLength() > maxBufferBytes) {
            return mmap.isImported()
                    ? imported(buf)
                    : BufLists.tooMuchData("source", buf, maxBufferBytes);
        }
        return Refusal.with(sources.check(mmap), SOURCE);
    }

    private static Refusal noBuf(@Nullable Buf buf) {
        return Refusal.of(
                Status.INVALID_VALUE,
                "%s: source=%s, expected=a buf in use",
                buf == null ? "task has no buf" : "buf was released",
                buf);
    }

    private static Refusal imported(Buf buf) {
        return Refusal.of(
                Status.INVALID_VALUE,
                "data is not in memory of this program: source=%s, expected=a buf in a local mmap",
                buf);
    }

    private Refusal noConsumer(int consumerId) {
        DpuException failed = failure(); // the attempt to attach it may have failed the context
        return Refusal.of(
                Status.NOT_FOUND,
                failed,
                "peer has no consumer with this id: consumerId=%d%s, expected=one of %s, by"
                        + " ComchConnection.remoteConsumers()",
                consumerId,
                failed == null ? "" : ", failure=" + failed.status(),
                Arrays.toString(registry.remoteIds()));
    }

    /** Writes to a claimed buffer, or queues large data for it; abandons it on failure. */
    private @Nullable Refusal write(
            ProducerSendTask task, Buf buf, AttachedConsumer to, long ticket) {
        long length = buf.dataLength();
        if (length > FastPathRing.INLINE_BYTES) {
            return beginCopy(task, to, ticket, length);
        }
        writeInline(task, buf, to.remote(), ticket, length);
        task.settle(Status.SUCCESS);
        done.add(task);
        consumers.sent(to);
        return null;
    }

    /** Queues large data for a claimed buffer; abandons that if its posting is illegal. */
    private @Nullable Refusal beginCopy(
            ProducerSendTask task, AttachedConsumer to, long ticket, long length) {
        RemoteConsumer remote = to.remote();
        long offset = remote.ring().regionOffset(ticket);
        if (offset < 0 || offset > remote.memory().byteSize() - length) {
            remote.ring().abandon(ticket, id);
            return corrupt(
                    to,
                    Text.format(
                            "posting outside the memory: offsetBytes=%d, lengthBytes=%d,"
                                    + " memoryBytes=%d",
                            offset, length, remote.memory().byteSize()));
        }
        task.claimed(to, ticket, offset);
        copying.add(task);
        return null;
    }

    /** Writes to the ring what fits there; abandons the buffer on failure. */
    private void writeInline(
            ProducerSendTask task, Buf buf, RemoteConsumer remote, long ticket, long length) {
        FastPathProducer ring = remote.ring();
        boolean written = false;
        try {
            Copier with = Objects.requireNonNull(copier, "made at start");
            with.message(
                    Regions.segmentOf(buf),
                    buf.dataOffset(),
                    ring.segment(),
                    ring.inlineOffset(ticket),
                    length);
            commit(with, task, ring, ticket, length, true);
            written = true;
        } finally {
            if (!written) {
                ring.abandon(ticket, id); // the source cannot be read: the program's error
            }
        }
    }

    private Refusal notClaimed(AttachedConsumer to, long ticket, Buf buf) {
        if (ticket == FastPathRing.NO_BUFFER) {
            consumers.beginWaiting(to.waiter());
            to.lookAgain();
            return to.noBuffer();
        }
        consumers.endWaiting(to.waiter());
        if (ticket == FastPathRing.TOO_LARGE) {
            return tooLarge(to.remote(), buf);
        }
        return ticket == FastPathRing.CLOSING
                ? closing(to.remote())
                : corrupt(to, String.valueOf(to.remote().ring().violation()));
    }

    private static Refusal tooLarge(RemoteConsumer remote, Buf buf) {
        long capacity = remote.ring().refusedCapacityBytes();
        return Refusal.of(
                Status.INVALID_VALUE,
                "data length %d > %d: consumerId=%d, source=%s, expected=%d bytes at most, the next"
                        + " buffer of the consumer",
                buf.dataLength(),
                capacity,
                remote.id(),
                buf,
                capacity);
    }

    private static Refusal closing(RemoteConsumer remote) {
        return Refusal.of(
                Status.NOT_FOUND,
                "consumer is stopping: consumerId=%d, expected=one of"
                        + " ComchConnection.remoteConsumers()",
                remote.id());
    }

    /**
     * The consumer of a task, attached to this producer: the one that was found before, as long as
     * it is usable, else the one with its id. Null if there is none.
     */
    private @Nullable AttachedConsumer consumerOf(ProducerSendTask task) {
        AttachedConsumer kept = task.consumer();
        return kept != null && kept.isUsable() ? kept : attach(task);
    }

    private @Nullable AttachedConsumer attach(ProducerSendTask task) {
        try {
            AttachedConsumer found = consumers.find(task.consumerId(), services());
            task.setConsumer(found);
            return found;
        } catch (FabricException e) {
            fatal(Failures.of(e));
            return null;
        }
    }

    /** Completes what was written; inside progress. Whether there was any. */
    private boolean completeDone() {
        int left = done.size(); // tasks that callbacks submit complete in the next progress
        if (left == 0) {
            return false;
        }
        try {
            for (; left > 0; left--) {
                ProducerSendTask task = done.remove();
                Regions.clearInFlight(bufOf(task));
                complete(task);
            }
        } finally {
            deliver();
        }
        return true;
    }

    /** Completes a task: its callback runs now, or in {@link #deliver} with others. */
    private void complete(ProducerSendTask task) {
        if (completed == null) {
            task.finish();
        } else if (task.finishWithOthers()) {
            completed.add(task);
        }
    }

    /** Runs the callback for tasks that were completed with others. */
    private void deliver() {
        if (completed != null) {
            completed.deliver();
        }
    }

    // ---- large sends ----

    /** Copies large sends, the oldest first, up to the limit of a pass for all of them. */
    private void copySlices() {
        long budgetBytes = Copier.SLICE_BYTES;
        while (budgetBytes > 0 && !copying.isEmpty()) {
            budgetBytes -= Math.max(copySlice(budgetBytes), MIN_COUNTED_BYTES);
        }
    }

    /** Copies of the oldest large send; the number of bytes, 0 if it has failed. */
    private long copySlice(long budgetBytes) {
        ProducerSendTask task = copying.peek();
        AttachedConsumer target = Objects.requireNonNull(task.consumer(), "claimed");
        RemoteConsumer to = target.remote();
        Buf buf = Objects.requireNonNull(task.buf(), "submitted");
        long length = buf.dataLength();
        boolean ended = failure() != null;
        if (ended || to.revoked()) {
            copy.end();
            to.ring().abandon(task.ticket(), id);
            settleCopy(task, target, ended ? Status.CONNECTION_RESET : to.revokedStatus());
            return 0;
        }
        if (copy.isDone()) { // the copy of the previous send
            copy.begin(
                    Regions.segmentOf(buf),
                    buf.dataOffset(),
                    to.memory(),
                    task.targetOffset(),
                    length);
        }
        Copier with = Objects.requireNonNull(copier, "made at start");
        long copied = copy.advance(with, budgetBytes);
        if (copy.isDone()) {
            commit(with, task, to.ring(), task.ticket(), length, false);
            settleCopy(task, target, Status.SUCCESS);
        }
        return copied;
    }

    private void settleCopy(ProducerSendTask task, AttachedConsumer to, Status status) {
        copying.remove();
        task.settle(status);
        done.add(task);
        consumers.sent(to);
        dropDue |= to.remote().expired();
    }

    private void commit(
            Copier with,
            ProducerSendTask task,
            FastPathProducer ring,
            long ticket,
            long length,
            boolean inline) {
        int immediateLength = task.immediateLength();
        if (immediateLength > 0) {
            with.message(
                    task.immediate(),
                    0,
                    ring.segment(),
                    ring.immediateOffset(ticket),
                    immediateLength);
        }
        ring.commit(ticket, length, id, immediateLength, inline);
    }

    private Refusal corrupt(AttachedConsumer to, String violation) {
        to.violated();
        String reason = "illegal posting, consumer=" + to.remote().id() + ", " + violation;
        connection.services().post(() -> connection.protocolViolated(reason));
        return Refusal.of(
                Status.CONNECTION_RESET,
                "peer violated the protocol: %s, expected=a new connection",
                reason);
    }

    void sendCompleted(ProducerSendTask task) {
        sends.callbackFor(task).completed(task);
    }

    private boolean isCopyingTo(AttachedConsumer consumer) {
        for (int i = 0; i < copying.size(); i++) {
            if (copying.get(i).consumer() == consumer) {
                return true;
            }
        }
        return false;
    }

    /**
     * Abandons the peer's next buffer in place of a message of a stream that is too large for it.
     *
     * @return the size of that buffer in bytes
     */
    long abandonBufferFor(ProducerSendTask task) {
        AttachedConsumer to = consumerOf(task);
        if (to == null) {
            return 0;
        }
        FastPathProducer ring = to.remote().ring();
        long capacityBytes = ring.refusedCapacityBytes();
        long ticket = to.isUsable() && to.waiter().mayClaim() ? ring.claim(0) : -1;
        if (ticket >= 0) {
            ring.abandon(ticket, id);
            consumers.sent(to);
        }
        return capacityBytes;
    }
}
