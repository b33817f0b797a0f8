package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.Task;
import io.softdpu.core.internal.access.NodeAccess;
import io.softdpu.core.internal.engine.NodeHolder;
import io.softdpu.core.internal.engine.QueueMember;
import io.softdpu.core.internal.engine.WorkQueueImpl;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Access of graphs to tasks and jobs. */
final class ContextNodes extends NodeAccess<Context, Task, Job> {
    ContextNodes() {
        super(Context.class, Task.class, Job.class);
    }

    @Override
    public void holdTask(Task task, NodeHolder holder) {
        if (!(task instanceof TaskBase base)) {
            throw foreign("task", task);
        }
        base.engine().requireOwner();
        base.holdFor(holder);
    }

    @Override
    public void releaseTask(Task task) {
        ((TaskBase) task).releaseFromNode();
    }

    @Override
    public @Nullable Refusal submitTask(Task task) {
        return ((TaskBase) task).submitForNode();
    }

    @Override
    public void holdJob(Job job, NodeHolder holder) {
        if (!(job instanceof JobBase base)) {
            throw foreign("job", job);
        }
        base.holdFor(holder);
    }

    @Override
    public void releaseJob(Job job) {
        ((JobBase) job).releaseFromNode();
    }

    @Override
    public @Nullable Refusal submitJob(Job job, WorkQueueImpl<Job> queue) {
        QueueMember<Job> member = queue.member(job.context());
        return queue.submitNode(Objects.requireNonNull(member, "stays with the graph"), job);
    }

    @Override
    public boolean isOnWorkQueue(Context context) {
        return context instanceof ContextBase base && !base.jobQueues().isEmpty();
    }

    private static DpuException foreign(String what, Object object) {
        return new DpuException(
                Status.INVALID_VALUE,
                Text.format(
                        "not a %s of this library: class=%s, expected=one that a context has"
                                + " created",
                        what, object.getClass().getName()));
    }
}
