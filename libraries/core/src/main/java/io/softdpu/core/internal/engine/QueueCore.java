package io.softdpu.core.internal.engine;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.internal.sanitizer.Disorder;
import io.softdpu.core.internal.sanitizer.Mistake;
import io.softdpu.fabric.link.EngineWaiter;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a work queue is made of, seen from the contexts as well as from the user's side: the
 * contexts, the jobs that have ended and wait to be retrieved, and where to sleep.
 *
 * <p>Belongs to the thread that made it, except for {@link #wake()}. Nothing here allocates, locks
 * or calls the system while it polls.
 *
 * @param <J> the class of jobs
 */
@SuppressWarnings("ReferenceEquality") // threads and contexts are what they are
public final class QueueCore<J> {
    /** What a sanitizer does to this queue; null where none is on. */
    private final @Nullable Disorder disorder = Disorder.ofCurrent();

    private final Thread owner = Thread.currentThread();
    private final int depth;
    private final Copier copier = new Copier();
    private @Nullable QueueMember<J>[] members = newMembers(4);
    private int memberCount;

    /** A ring of the jobs that have ended, and whose they were. */
    private final @Nullable Object[] ended;

    private final @Nullable QueueMember<J>[] endedOf;
    private int endedHead;
    private int endedCount;

    /** Null in polling mode. Volatile for {@link #wake()} alone. */
    private volatile @Nullable EngineWaiter waiter;

    private boolean armed;
    private boolean used;
    private boolean broken;
    private boolean closed;
    private int inFlight;

    /** A queue of the calling thread, without contexts, in polling mode. */
    public QueueCore(int depth) {
        this.depth = depth;
        this.ended = new @Nullable Object[depth];
        this.endedOf = newMembers(depth);
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // there are no arrays of generic classes
    private static <J> @Nullable QueueMember<J>[] newMembers(int length) {
        return (@Nullable QueueMember<J>[]) new @Nullable QueueMember[length];
    }

    // ---- the queue's face ----

    /** See {@code WorkQueue.add}. */
    public void add(QueueMember<J> member) {
        if (memberCount == members.length) {
            members = Arrays.copyOf(members, memberCount * 2);
        }
        members[memberCount++] = member;
    }

    /** The place of this context; null if the queue was not added to it. */
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

    /** Takes the queue from all contexts; nothing is in flight. */
    public void removeAll() {
        while (memberCount > 0) {
            remove(Objects.requireNonNull(members[memberCount - 1], "no gaps"));
        }
    }

    /** See {@code WorkQueue.trySubmit}. */
    public Status submit(QueueMember<J> member, J job) {
        if (inFlight == depth && !member.isInFlight(job)) {
            return Status.NO_MEMORY;
        }
        if (disorder != null && disturbsSubmission(member, job)) {
            return Status.AGAIN;
        }
        used = true;
        inFlight++;
        Status submitted = Status.UNEXPECTED;
        try {
            submitted = member.submit(job);
        } finally {
            if (submitted != Status.SUCCESS) {
                inFlight--;
            } else if (armed) {
                signal();
            }
        }
        return submitted;
    }

    /**
     * Does what can be done now, unless a job has ended already.
     *
     * @return SUCCESS if a job has ended, AGAIN if none has, INVALID_VALUE once after a context has
     *     failed
     */
    public Status progress() {
        used = true;
        if (endedCount == 0 || disorder != null) {
            for (int i = 0; i < memberCount; i++) {
                progress(Objects.requireNonNull(members[i], "no gaps"));
            }
        }
        if (broken) {
            broken = false;
            return Status.INVALID_VALUE;
        }
        if (disorder != null && endedCount > 0) {
            return disturbOrder();
        }
        return endedCount > 0 ? Status.SUCCESS : Status.AGAIN;
    }

    /** The next job that has ended; there is one. */
    @SuppressWarnings("unchecked") // ended puts nothing else into it
    public J take() {
        J job = (J) Objects.requireNonNull(ended[endedHead], "an ended job");
        QueueMember<J> member = Objects.requireNonNull(endedOf[endedHead], "its context");
        ended[endedHead] = null;
        endedOf[endedHead] = null;
        endedHead = endedHead + 1 == depth ? 0 : endedHead + 1;
        endedCount--;
        inFlight--;
        member.retrieved(job);
        return job;
    }

    /** See {@code WorkQueue.setEventDriven}. */
    public void setEventDriven(boolean eventDriven) {
        if (used) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "mode is set before the first job and the first look for one: queueThread="
                            + owner.getName());
        }
        if (!eventDriven) {
            closeWaiter();
            return;
        }
        for (int i = 0; i < memberCount; i++) {
            QueueMember<J> member = Objects.requireNonNull(members[i], "no gaps");
            requireEventDriven(member.context(), member.isEventDrivenSupported());
        }
        if (waiter == null) {
            waiter = new EngineWaiter();
        }
    }

    /** Refuses a context that cannot be waited for where the queue is event-driven. */
    public void requireFit(Object context, boolean eventDrivenSupported) {
        if (waiter != null) {
            requireEventDriven(context, eventDrivenSupported);
        }
    }

    /** Whether the queue is in event-driven mode. */
    public boolean isEventDriven() {
        return waiter != null;
    }

    /**
     * Where the queue sleeps.
     *
     * @throws DpuException BAD_STATE in polling mode
     */
    public EngineWaiter waiter() {
        EngineWaiter bell = waiter;
        if (bell == null) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "queue is in polling mode: queueThread="
                            + owner.getName()
                            + ", expected=event-driven mode, chosen before the first job");
        }
        return bell;
    }

    /** See {@code WorkQueue.armEvent}. */
    public void arm() {
        EngineWaiter bell = waiter();
        used = true;
        armed = true;
        boolean ready = endedCount > 0 || broken;
        for (int i = 0; i < memberCount; i++) {
            ready |= Objects.requireNonNull(members[i], "no gaps").arm();
        }
        if (ready) {
            armed = false;
            bell.wake();
        }
    }

    /** See {@code WorkQueue.clearEvent}. */
    public void clear() {
        waiter().clear();
        armed = false;
        for (int i = 0; i < memberCount; i++) {
            Objects.requireNonNull(members[i], "no gaps").disarm();
        }
    }

    /** Ends the queue; it was removed from all contexts. */
    public void close() {
        closed = true;
        closeWaiter();
    }

    /** Whether it is closed for good. */
    public boolean isClosed() {
        return closed;
    }

    /** How many jobs may be in flight. */
    public int depth() {
        return depth;
    }

    /** How many jobs are submitted and not yet retrieved. */
    public int inFlight() {
        return inFlight;
    }

    /** The thread that made the queue. */
    public Thread owner() {
        return owner;
    }

    // ---- for the contexts ----

    /** The queue's copier. */
    public Copier copier() {
        return copier;
    }

    /** A job has ended; it waits here to be retrieved. */
    public void ended(J job, QueueMember<J> member) {
        int tail = endedHead + endedCount;
        int at = tail < depth ? tail : tail - depth;
        ended[at] = job;
        endedOf[at] = member;
        endedCount++;
    }

    /**
     * A context has failed on another thread, and its jobs here have to be flushed. Any thread; on
     * the queue's own nobody sleeps.
     */
    public void wake() {
        EngineWaiter bell = waiter;
        if (bell != null && Thread.currentThread() != owner) {
            bell.wake();
        }
    }

    /**
     * Refuses a call from any thread but the queue's, and any after close.
     *
     * @throws DpuException NOT_PERMITTED naming both threads; BAD_STATE if the queue is closed
     */
    public void requireUsable() {
        if (Thread.currentThread() != owner) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "called from a thread that is not the queue's: thread=%s, queueThread=%s"
                            .formatted(Thread.currentThread().getName(), owner.getName()));
        }
        if (closed) {
            throw new DpuException(
                    Status.BAD_STATE, "work queue is closed: queueThread=" + owner.getName());
        }
    }

    private boolean disturbsSubmission(QueueMember<J> member, J job) {
        Disorder by = Objects.requireNonNull(disorder, "a sanitizer is on");
        if (member.isInFlight(job)) {
            by.sanitizer()
                    .report(
                            Mistake.TASK_MISUSED,
                            "job was submitted in flight: " + member.describe(job),
                            null);
            return false;
        }
        return inFlight > 0 && by.refuses();
    }

    /** Puts one of those that have ended first, or lets none be retrieved this time. */
    private Status disturbOrder() {
        Disorder by = Objects.requireNonNull(disorder, "a sanitizer is on");
        int chosen = (endedHead + by.oneOf(endedCount)) % depth;
        Object job = ended[chosen];
        QueueMember<J> member = endedOf[chosen];
        ended[chosen] = ended[endedHead];
        endedOf[chosen] = endedOf[endedHead];
        ended[endedHead] = job;
        endedOf[endedHead] = member;
        return by.refuses() ? Status.AGAIN : Status.SUCCESS;
    }

    private void progress(QueueMember<J> member) {
        try {
            var _ = member.progress();
        } catch (RuntimeException e) { // the library itself cannot go on
            broken = true;
            member.failed(e);
        }
    }

    /** Work has come after arming: one signal for one arming. */
    private void signal() {
        armed = false;
        waiter().wake();
    }

    private void requireEventDriven(Object context, boolean supported) {
        if (!supported) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    "context does not support event-driven mode: context=%s, queueThread=%s"
                            .formatted(context, owner.getName()));
        }
    }

    private void closeWaiter() {
        EngineWaiter bell = waiter;
        if (bell != null) {
            bell.close();
            waiter = null;
        }
    }
}
