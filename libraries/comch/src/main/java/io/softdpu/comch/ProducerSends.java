package io.softdpu.comch;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.core.spi.Failures;
import io.softdpu.core.spi.FixedQueue;
import io.softdpu.core.spi.MemoryRight;
import io.softdpu.core.spi.Regions;
import io.softdpu.core.spi.TaskType;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the {@link ProducerContext} with the path of a message: to a claimed buffer of its
 * consumer at the submission, and to its completion in progress. One object with the context, so
 * that a message passes no other; what does not fit into the ring passes {@link LargeSends}.
 */
abstract sealed class ProducerSends extends ContextBase<ComchProducer> permits ProducerContext {
    final ComchConnection connection;
    final ConsumerRegistry registry;

    /** Null if the producer is of no stream. */
    private final @Nullable Runnable onRoom;

    private final AttachedConsumers consumers;
    private final MemoryRight sources;
    private final long maxBufferBytes;
    final TaskType<ProducerSendTask, ComchTaskCallback<ComchProducerSendTask>> sends;

    private final LargeSends large = new LargeSends(this);
    private FixedQueue<ProducerSendTask> done = new FixedQueue<>(1);
    private @Nullable Copier copier;

    /** Set if the user's callback is one for several tasks. */
    @Nullable CompletedTasks<ComchProducerSendTask> completed;

    private boolean dropDue;

    /** Number of messages sent by {@link #sendInline} since the last pass of progress. */
    private int inlineSends;

    private volatile int id;

    /**
     * Creates a producer.
     *
     * @param onRoom of a stream: runs inside progress when the peer has posted buffers that sends
     *     have waited for, and in the pass after one or several {@link #sendInline}
     */
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
                        () -> new ProducerSendTask(this));
    }

    /** Creates the tasks and their queues; if it throws nothing is acquired. */
    final void openSends() {
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
        boolean worked = !large.isEmpty();
        if (worked) {
            large.copySlices(Objects.requireNonNull(copier, "made at start"));
        }
        if (dropDue) {
            dropDue = false;
            consumers.detachExpired(large::isCopyingTo, services());
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
                        || !large.isEmpty()
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
        Refusal refusal = task.check(sources, maxBufferBytes);
        if (refusal != null) {
            return refusal;
        }
        AttachedConsumer to = consumerOf(task);
        if (to == null) {
            return consumers.notFound(task.consumerId(), failure());
        }
        if (!to.isUsable()) {
            return to.unusable();
        }
        Buf buf = task.requireBuf();
        refusal = Regions.markSource(buf, ComchCapabilities.MAX_LIST_LENGTH);
        if (refusal != null) {
            return Refusal.with(refusal, ProducerSendTask.SOURCE);
        }
        long ticket = to.claim(buf.dataLength());
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
        Buf buf = task.requireBuf();
        long length = buf.dataLength();
        if (length > FastPathRing.INLINE_BYTES || !takesTasks() || isSanitized()) {
            return false;
        }
        AttachedConsumer to = consumerOf(task);
        if (to == null || !to.isUsable()) {
            return false;
        }
        long ticket = to.claim(length);
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
            int consumerId = first.consumerId();
            AttachedConsumer to = consumerOf(first);
            if (to == null) {
                return consumers.notFound(consumerId, failure());
            }
            if (!to.isUsable()) {
                return to.unusable();
            }
            int most = next + 1;
            if (to.waiter().mayClaimSeveral()) { // else each message takes its turn
                while (most < end && ((ProducerSendTask) tasks[most]).consumerId() == consumerId) {
                    most++;
                }
            }
            Refusal refusal = sendSome(tasks, next, most, to);
            if (refusal != null) {
                return refusal;
            }
            next = most;
        }
        return null;
    }

    /**
     * Claims buffers of one consumer for as many as possible, and writes them; null if for all,
     * else why not for the next.
     */
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
            long found = to.claim(tasks, from, marked);
            int claimed = to.claimedCount();
            long ticket = to.firstTicket();
            if (claimed > 0) {
                consumers.endWaiting(to.waiter());
            }
            try {
                if (found < 0) {
                    refusal =
                            notClaimed(
                                    to,
                                    found,
                                    ((ProducerSendTask) tasks[from + claimed]).requireBuf());
                }
                while (sent < claimed) {
                    ProducerSendTask task = (ProducerSendTask) tasks[from + sent];
                    Refusal notWritten = write(task, task.requireBuf(), to, ticket + sent);
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
                Regions.clearInFlight(((ProducerSendTask) tasks[i]).requireBuf());
            }
            accepted(sent);
        }
        return refusal;
    }

    private @Nullable Refusal mark(ProducerSendTask task) {
        Refusal refusal = task.check(sources, maxBufferBytes);
        return refusal == null
                ? Refusal.with(
                        Regions.markSource(task.requireBuf(), ComchCapabilities.MAX_LIST_LENGTH),
                        ProducerSendTask.SOURCE)
                : refusal;
    }

    /** Writes to a claimed buffer, or queues large data for it; abandons it on failure. */
    private @Nullable Refusal write(
            ProducerSendTask task, Buf buf, AttachedConsumer to, long ticket) {
        long length = buf.dataLength();
        if (length > FastPathRing.INLINE_BYTES) {
            String violation = large.add(task, to, ticket, length);
            return violation == null ? null : corrupt(to, violation);
        }
        writeInline(task, buf, to.remote(), ticket, length);
        task.settle(Status.SUCCESS);
        done.add(task);
        consumers.sent(to);
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
            task.commit(with, ring, ticket, length, true);
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
            return to.tooLarge(buf);
        }
        return ticket == FastPathRing.CLOSING
                ? to.closing()
                : corrupt(to, String.valueOf(to.remote().ring().violation()));
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
                Regions.clearInFlight(task.requireBuf());
                complete(task);
            }
        } finally {
            if (completed != null) {
                completed.deliver();
            }
        }
        return true;
    }

    /** Completes a task: its callback runs now, or after the pass with others. */
    private void complete(ProducerSendTask task) {
        if (completed == null) {
            task.finish();
        } else if (task.finishWithOthers()) {
            completed.add(task);
        }
    }

    /** The copy of a large send has ended: it completes. */
    void copied(ProducerSendTask task, AttachedConsumer to, Status status) {
        task.settle(status);
        done.add(task);
        consumers.sent(to);
        dropDue |= to.remote().expired();
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
        long ticket = to.isUsable() ? to.claim(0) : -1;
        if (ticket >= 0) {
            ring.abandon(ticket, id);
            consumers.sent(to);
        }
        return capacityBytes;
    }
}
