package io.softdpu.core.sync;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.JobBase;
import io.softdpu.core.spi.JobQueue;
import io.softdpu.fabric.link.EventPoller;
import org.jspecify.annotations.Nullable;

/** Jobs of a sync event on one work queue. Used by that queue's thread alone. */
final class EventJobQueue extends JobQueue {
    private final EventContext context;
    private final EventHandle handle;
    private final PendingWaits waits;
    private final Sleeper sleeper = new QueueSleeper();
    private final CounterAccess access;
    private boolean armed;

    EventJobQueue(EventContext context, EventHandle handle, int depth) {
        super(context, depth);
        this.context = context;
        this.handle = handle;
        this.waits = new PendingWaits(depth);
        handle.sleepers.add(sleeper);
        this.access = handle.newAccess();
    }

    @Override
    protected boolean accepts(JobBase<?> job) {
        return job instanceof EventJob;
    }

    @Override
    protected @Nullable Refusal onSubmit(JobBase<?> job) {
        Status ended = handle.ended();
        if (ended != Status.SUCCESS) {
            return context.refusal(ended);
        }
        if (job instanceof WaitJob wait) {
            wait.begin(this);
            waits.add(wait);
        } else {
            ((EventJob) job).execute(access);
            complete(job, Status.SUCCESS);
        }
        return null;
    }

    @Override
    protected boolean onProgress() {
        if (waits.isEmpty()) {
            return false;
        }
        handle.refresh(sleeper);
        Status ended = handle.ended();
        if (ended != Status.SUCCESS) {
            waits.flush(ended);
            return true;
        }
        return waits.progress(handle.get());
    }

    @Override
    protected void onFlush() {
        waits.flush(Status.SHUTDOWN);
    }

    @Override
    protected boolean onArm() {
        if (waits.isEmpty()) {
            sleeper.links.close();
            return false;
        }
        if (waits.hasNew()) {
            return true;
        }
        armed = true;
        return handle.arm(sleeper, waits.seen());
    }

    @Override
    protected void onDisarm() {
        if (armed) {
            armed = false;
            handle.disarm(sleeper);
        }
    }

    @Override
    protected void onRemove() {
        handle.detach(sleeper);
        handle.remove(access);
    }

    /** Completes a wait. */
    void end(WaitJob job, Status how) {
        complete(job, how);
    }

    /** The work queue's thread. */
    private final class QueueSleeper extends Sleeper {
        @Override
        EventPoller poller() {
            return BusServices.poller(EventJobQueue.this);
        }

        @Override
        void wake() {
            EventJobQueue.this.wake();
        }
    }
}
