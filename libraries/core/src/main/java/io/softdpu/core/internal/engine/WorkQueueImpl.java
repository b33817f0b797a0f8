package io.softdpu.core.internal.engine;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Interrupts;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.check.Threads;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.internal.sanitizer.CompletionShuffler;
import io.softdpu.core.internal.sanitizer.Mistake;
import io.softdpu.core.spi.graph.GraphQueue;
import io.softdpu.core.spi.graph.QueueGraphs;
import io.softdpu.core.spi.graph.QueueInstance;
import io.softdpu.fabric.engine.WaitPermission;
import io.softdpu.fabric.link.EventPoller;
import io.softdpu.linux.text.Text;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Implementation of {@code WorkQueue}, for its users and for the contexts: the contexts, the
 * completed jobs that wait to be retrieved, and the poller.
 *
 * <p>Belongs to the thread that created it, except for {@link #wake()}. Polling allocates nothing,
 * takes no lock and makes no system call.
 *
 * @param <J> the class of jobs
 */
@SuppressWarnings("ReferenceEquality") // threads and contexts are compared by identity
public final class WorkQueueImpl<J> implements GraphQueue {
    /** The sanitizer's shuffler of this queue; null if no sanitizer is on. */
    private final @Nullable CompletionShuffler shuffler = CompletionShuffler.ofCurrent();

    private static final Refusal SANITIZER =
            Refusal.ready(
                    Status.AGAIN,
                    () ->
                            "sanitizer refuses the submission, as a full queue would: sanitizer=on,"
                                    + " expected=another try after a retrieval");

    private final Thread owner = Thread.currentThread();
    private final int depth;
    private final Refusal full;
    private final Copier copier = new Copier();
    private @Nullable QueueMember<J>[] members = newMembers(4);
    private int memberCount;

    /** Ring of the completed jobs, and their contexts. */
    private final @Nullable Object[] ended;

    private final @Nullable QueueMember<J>[] endedOf;
    private int endedHead;
    private int endedCount;

    /** Null until the first graph is added. */
    private @Nullable QueueGraphs graphs;

    private @Nullable BooleanSupplier denial;

    /** The instance that {@link #take} has found. */
    private @Nullable QueueInstance taken;

    /** Null in polling mode. Volatile for {@link #wake()} alone. */
    private volatile @Nullable EventPoller poller;

    /** Whether a signal is wanted; taken back by the thread that gives it. */
    private final AtomicBoolean armed = new AtomicBoolean();

    private boolean used;
    private boolean broken;
    private boolean closed;
    private int inFlight;

    /** A queue of the calling thread, without contexts, in polling mode. */
    public WorkQueueImpl(int depth) {
        this.depth = depth;
        this.full =
                Refusal.ready(
                        Status.NO_MEMORY,
                        () ->
                                Text.format(
                                        "work queue is full: inFlight=%d, depth=%d, expected=a job"
                                                + " retrieved first",
                                        depth, depth));
        this.ended = new @Nullable Object[depth];
        this.endedOf = newMembers(depth);
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // there are no arrays of generic classes
    private static <J> @Nullable QueueMember<J>[] newMembers(int length) {
        return (@Nullable QueueMember<J>[]) new @Nullable QueueMember[length];
    }

    // ---- for the user ----

    /** See {@code WorkQueue.add}. */
    public void add(QueueMember<J> member) {
        if (memberCount == members.length) {
            members = Arrays.copyOf(members, memberCount * 2);
        }
        members[memberCount++] = member;
    }

    /** The member of this context; null if the queue was not added to it. */
    public @Nullable QueueMember<J> member(Object context) {
        for (int i = 0; i < memberCount; i++) {
            QueueMember<J> member = Objects.requireNonNull(members[i], "no gaps");
            if (member.context() == context) {
                return member;
            }
        }
        return null;
    }

    /** See {@code WorkQueue.remove}. */
    public void remove(QueueMember<J> member) {
        member.remove();
        int kept = 0;
        for (int i = 0; i < memberCount; i++) {
            QueueMember<J> each = members[i];
            members[i] = null;
            if (each != member) {
                members[kept++] = each;
            }
        }
        memberCount = kept;
    }

    /** Removes all graphs, and the queue from all contexts; no job is in flight. */
    public void removeAll() {
        if (graphs != null) {
            graphs.removeAll();
        }
        while (memberCount > 0) {
            remove(Objects.requireNonNull(members[memberCount - 1], "no gaps"));
        }
    }

    /** See {@code WorkQueue.trySubmit}; null if the job was accepted, else why not. */
    public @Nullable Refusal submit(QueueMember<J> member, J job) {
        if (inFlight == depth && !member.isTaken(job)) {
            return full;
        }
        if (shuffler != null && refusesSubmission(member, job)) {
            return SANITIZER;
        }
        used = true;
        inFlight++;
        Refusal refusal = null;
        boolean accepted = false;
        try {
            refusal = member.submit(job);
            accepted = refusal == null;
        } finally {
            if (!accepted) {
                inFlight--;
            } else if (armed.get()) {
                signal();
            }
        }
        return refusal;
    }

    /**
     * Does the work that can be done now, unless a completed job is waiting, and handles the end of
     * at most one node of a graph.
     *
     * @return SUCCESS if a completed job or instance is waiting, AGAIN if none is, or a node has
     *     ended, INVALID_VALUE once after a context has failed
     */
    public Status progress() {
        used = true;
        QueueGraphs present = graphs;
        if (present != null) {
            Status graph = progress(present);
            if (graph != Status.IN_PROGRESS) {
                return graph;
            }
        }
        if (endedCount == 0 || shuffler != null) {
            for (int i = 0; i < memberCount; i++) {
                progress(Objects.requireNonNull(members[i], "no gaps"));
            }
        }
        if (broken) {
            broken = false;
            return Status.INVALID_VALUE;
        }
        if (shuffler != null && endedCount > 0) {
            return shuffleEnded();
        }
        return endedCount > 0 ? Status.SUCCESS : Status.AGAIN;
    }

    /**
     * The progress of graphs.
     *
     * @return SUCCESS if an instance waits to be retrieved, AGAIN if the end of a node was handled,
     *     IN_PROGRESS if neither
     */
    private Status progress(QueueGraphs present) {
        if (present.isRunningUserNode()) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "progressRetrieve called from inside a user node: thread=%s, expected=a"
                                    + " call after the node has returned",
                            Threads.describe(owner)));
        }
        if (present.hasEnded()) {
            return Status.SUCCESS;
        }
        if (present.step()) {
            return Status.AGAIN;
        }
        return present.hasEnded() ? Status.SUCCESS : Status.IN_PROGRESS;
    }

    /**
     * Takes what is waiting after {@link #progress} has returned SUCCESS: a completed job, or an
     * instance, which is {@link #takenInstance} then, or the end of a node, which is handled.
     *
     * @return the job, or null
     */
    @SuppressWarnings("unchecked") // only ended() adds elements
    public @Nullable J take() {
        QueueGraphs present = graphs;
        if (present != null) {
            taken = present.pollEnded();
            if (taken != null) {
                taken.retrieved();
                return null;
            }
        }
        J job = (J) Objects.requireNonNull(ended[endedHead], "an ended job");
        QueueMember<J> member = Objects.requireNonNull(endedOf[endedHead], "its context");
        ended[endedHead] = null;
        endedOf[endedHead] = null;
        endedHead = endedHead + 1 == depth ? 0 : endedHead + 1;
        endedCount--;
        if (!member.retrieved(job)) {
            return null; // its place is the instance's
        }
        inFlight--;
        return job;
    }

    /** The instance that {@link #take} has taken; null if that was the end of a node. */
    public @Nullable QueueInstance takenInstance() {
        return taken;
    }

    // ---- for the graphs ----

    @Override
    public boolean hasContext(Object context) {
        return member(context) != null;
    }

    @Override
    public @Nullable QueueGraphs graphs() {
        return graphs;
    }

    @Override
    public void setGraphs(QueueGraphs newGraphs) {
        graphs = newGraphs;
        denial = newGraphs::isRunningUserNode;
        WaitPermission.deny(denial);
    }

    @Override
    public boolean reserve(int places) {
        if (depth - inFlight < places) {
            return false;
        }
        used = true;
        inFlight += places;
        return true;
    }

    @Override
    public void release(int places) {
        inFlight -= places;
    }

    @Override
    public void instanceSubmitted() {
        if (armed.get()) {
            signal();
        }
    }

    /** Submits a job for the node of a graph; null if it was accepted, else why not. */
    public @Nullable Refusal submitNode(QueueMember<J> member, J job) {
        if (shuffler != null && shuffler.refuses()) {
            return SANITIZER;
        }
        return member.submitNode(job);
    }

    /** See {@code WorkQueue.setEventDriven}. */
    public void setEventDriven(boolean eventDriven) {
        if (used) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "mode must be set before the first submission and retrieval: queueThread="
                            + Threads.describe(owner));
        }
        if (!eventDriven) {
            closePoller();
            return;
        }
        for (int i = 0; i < memberCount; i++) {
            QueueMember<J> member = Objects.requireNonNull(members[i], "no gaps");
            requireEventDriven(member.context(), member.isEventDrivenSupported());
        }
        if (poller == null) {
            poller = new EventPoller();
        }
    }

    /** Refuses a context without event-driven mode if the queue is event-driven. */
    public void requireFit(Object context, boolean eventDrivenSupported) {
        if (poller != null) {
            requireEventDriven(context, eventDrivenSupported);
        }
    }

    /** Whether the queue is in event-driven mode. */
    public boolean isEventDriven() {
        return poller != null;
    }

    /**
     * The poller in which the queue sleeps.
     *
     * @throws DpuException BAD_STATE in polling mode
     */
    public EventPoller poller() {
        EventPoller present = poller;
        if (present == null) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "queue is in polling mode: queueThread="
                            + Threads.describe(owner)
                            + ", expected=event-driven mode, chosen before the first job");
        }
        return present;
    }

    /** See {@code WorkQueue.armEvent}. */
    public void arm() {
        var _ = poller(); // refuses the call in polling mode
        used = true;
        armed.set(true); // before the contexts are asked: one that fails later wakes
        boolean ready = endedCount > 0 || broken || (graphs != null && graphs.hasWork());
        for (int i = 0; i < memberCount; i++) {
            ready |= Objects.requireNonNull(members[i], "no gaps").arm();
        }
        if (ready) {
            signal();
        }
    }

    /** See {@code WorkQueue.awaitEvent}. */
    public boolean awaitEvent(long timeoutNanos) {
        EventPoller present = poller();
        boolean waits = timeoutNanos != 0;
        if (!(waits && Interrupts.isPending()) && present.sleep(timeoutNanos)) {
            return true;
        }
        if (waits && Interrupts.isPending()) {
            throw Interrupts.ended(
                    "WorkQueue.awaitEvent", "awaited=a signal, inFlightJobs=" + inFlight);
        }
        return false;
    }

    /** See {@code WorkQueue.clearEvent}. */
    public void clear() {
        poller().clear();
        armed.set(false);
        for (int i = 0; i < memberCount; i++) {
            Objects.requireNonNull(members[i], "no gaps").disarm();
        }
    }

    /** A graph on this queue with a node of this context; null if there is none. */
    public @Nullable String graphOf(Object context) {
        return graphs == null ? null : graphs.userOf(context);
    }

    /** Closes the queue; it was removed from all contexts. */
    public void close() {
        closed = true;
        if (denial != null) {
            WaitPermission.lift(denial);
        }
        closePoller();
    }

    /** Whether it is closed. */
    public boolean isClosed() {
        return closed;
    }

    /** Limit of jobs in flight. */
    public int depth() {
        return depth;
    }

    /** Number of jobs submitted and not yet retrieved. */
    public int inFlight() {
        return inFlight;
    }

    @Override
    public Thread owner() {
        return owner;
    }

    // ---- for the contexts ----

    /** The queue's copier. */
    public Copier copier() {
        return copier;
    }

    /** Adds a completed job, which waits to be retrieved. */
    public void ended(J job, QueueMember<J> member) {
        int tail = endedHead + endedCount;
        int at = tail < depth ? tail : tail - depth;
        ended[at] = job;
        endedOf[at] = member;
        endedCount++;
    }

    /**
     * Signals work if the queue is armed, because a context has failed and its jobs must be
     * flushed. Any thread, the queue's own as well: it may be using another of its queues. Arming
     * later finds the jobs.
     */
    public void wake() {
        EventPoller present = poller;
        if (present != null && armed.getAndSet(false)) {
            present.wake();
        }
    }

    @Override
    public void requireUsable() {
        if (Thread.currentThread() != owner) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "called from a thread that is not the queue's: thread=%s,"
                                    + " queueThread=%s, expected=the queue's thread, or a queue of"
                                    + " this thread",
                            Threads.current(), Threads.describe(owner)));
        }
        if (closed) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "work queue is closed: queueThread=" + Threads.describe(owner));
        }
    }

    private boolean refusesSubmission(QueueMember<J> member, J job) {
        CompletionShuffler active = Objects.requireNonNull(shuffler, "a sanitizer is on");
        if (member.isInFlight(job)) {
            active.sanitizer()
                    .report(
                            Mistake.TASK_MISUSED,
                            "job was submitted in flight: " + member.describe(job),
                            null);
            return false;
        }
        return inFlight > 0 && active.refuses();
    }

    /** Moves a random completed job to the front, or lets none be retrieved this time. */
    private Status shuffleEnded() {
        CompletionShuffler active = Objects.requireNonNull(shuffler, "a sanitizer is on");
        int chosen = (endedHead + active.oneOf(endedCount)) % depth;
        Object job = ended[chosen];
        QueueMember<J> member = endedOf[chosen];
        ended[chosen] = ended[endedHead];
        endedOf[chosen] = endedOf[endedHead];
        ended[endedHead] = job;
        endedOf[endedHead] = member;
        return active.refuses() ? Status.AGAIN : Status.SUCCESS;
    }

    private void progress(QueueMember<J> member) {
        try {
            var _ = member.progress();
        } catch (RuntimeException e) { // a defect of the library
            broken = true;
            member.failed(e);
        }
    }

    /** Signals work after arming, once per arming. */
    private void signal() {
        if (armed.getAndSet(false)) {
            poller().wake();
        }
    }

    private void requireEventDriven(Object context, boolean supported) {
        if (!supported) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "context does not support event-driven mode: context=%s,"
                                    + " queueThread=%s",
                            context, Threads.describe(owner)));
        }
    }

    private void closePoller() {
        EventPoller present = poller;
        if (present != null) {
            present.close();
            poller = null;
        }
    }
}
